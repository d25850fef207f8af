//! A claim as the text of a header or attribute. Must not know which.

use serde_json::Value;

use crate::keyring::Claims;

/// Headers may have 16 KiB and attributes 8; claims that are passed on are names and roles.
const LONGEST: usize = 4 * 1024;

/// The claim of that name, or inside of others by a path: `realm_access.roles`. Lists are joined with commas.
/// Nothing where there is none, or where it can't be sent.
pub(crate) fn text(claims: &Claims, path: &str) -> Option<String> {
    let value = claims.get(path).or_else(|| inside(claims, path))?;
    let text = match value {
        Value::Array(items) => items.iter().map(simple).collect::<Option<Vec<_>>>()?.join(","),
        value => simple(value)?,
    };
    let fits = text.len() <= LONGEST && text.trim() == text && !text.chars().any(char::is_control);
    (fits && !text.is_empty()).then_some(text)
}

fn inside<'a>(claims: &'a Claims, path: &str) -> Option<&'a Value> {
    let mut steps = path.split('.');
    let first = claims.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

fn simple(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(word) => Some(word.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_become_text() {
        let claims = serde_json::json!({
            "sub": "alice", "level": 7, "ok": true, "roles": ["a", "b"], "deep": { "er": { "x": ["y"] } },
            "https://a.test/tenant": "t", "empty": "", "evil": "a\r\nb", "mixed": [{}], "none": null,
        });
        let Value::Object(claims) = claims else { unreachable!("an object was written") };
        fn check(claims: &Claims, path: &str, expected: Option<&str>) {
            assert_eq!(text(claims, path).as_deref(), expected, "{path}");
        }
        check(&claims, "sub", Some("alice"));
        check(&claims, "level", Some("7"));
        check(&claims, "ok", Some("true"));
        check(&claims, "roles", Some("a,b"));
        check(&claims, "deep.er.x", Some("y"));
        check(&claims, "https://a.test/tenant", Some("t"));
        for none in ["missing", "empty", "evil", "mixed", "none", "deep", "sub.x", ""] {
            check(&claims, none, None);
        }
    }
}
