//! Configuration of plugins: from TOML to the JSON that they are given. Dates become strings.

use serde_json::{Map, Number, Value};

use super::codes;
use super::diagnostic::Diagnostic;

/// A table as a JSON object.
///
/// # Errors
/// A number in it is `nan` or `inf`.
pub(crate) fn object(table: &toml::Table) -> Result<Map<String, Value>, Diagnostic> {
    table.iter().map(|(key, item)| Ok((key.clone(), value(key, item)?))).collect()
}

fn value(key: &str, item: &toml::Value) -> Result<Value, Diagnostic> {
    Ok(match item {
        toml::Value::String(text) => Value::String(text.clone()),
        toml::Value::Integer(number) => Value::Number((*number).into()),
        toml::Value::Float(number) => match Number::from_f64(*number) {
            Some(number) => Value::Number(number),
            None => {
                let number = number.to_string().to_lowercase();
                let message = format!("`{key}` is `{number}`, which JSON can't say");
                let help = "leave the key out, or write a number";
                return Err(Diagnostic::error(codes::NOT_JSON, message).with_help(help));
            }
        },
        toml::Value::Boolean(word) => Value::Bool(*word),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => {
            Value::Array(items.iter().map(|item| value(key, item)).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => Value::Object(object(table)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(toml: &str, expected: Option<Value>) {
        let table: toml::Table = toml::from_str(toml).unwrap();
        assert_eq!(object(&table).ok().map(Value::Object), expected, "{toml}");
    }

    #[test]
    fn every_type_has_its_form() {
        check(
            "a = 1\nb = 1.5\nc = true\nd = 'x'\ne = [1, 'y']\nf = { g = 2026-11-30 }\nh = 07:32:00",
            Some(serde_json::json!({
                "a": 1, "b": 1.5, "c": true, "d": "x", "e": [1, "y"], "f": { "g": "2026-11-30" }, "h": "07:32:00",
            })),
        );
        check("a = nan", None);
        check("a = [{ b = -inf }]", None);
    }
}
