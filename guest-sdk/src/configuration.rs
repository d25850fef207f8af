//! From the JSON of `lifecycle.configure` to a plugin's own type. Must not know which plugin.

use std::any::TypeId;
use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::Plugin;

/// Makes a plugin of a configuration.
///
/// # Errors
/// What is wrong with it, with the path of the key.
pub(crate) fn configure<P: Plugin>(json: &str) -> Result<P, String> {
    P::configure(parse(json)?)
}

fn parse<C: DeserializeOwned + 'static>(json: &str) -> Result<C, String> {
    if TypeId::of::<C>() == TypeId::of::<()>() {
        return nothing(json);
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let message = without_position(error.inner());
        if path == "." { message } else { format!("`{path}`: {message}") }
    })
}

/// `()` stands for an object without keys; serde would want `null`.
fn nothing<C: DeserializeOwned>(json: &str) -> Result<C, String> {
    let keys: BTreeMap<String, IgnoredAny> =
        serde_json::from_str(json).map_err(|error| without_position(&error))?;
    match keys.keys().next() {
        Some(key) => Err(format!("unknown key `{key}`: the plugin takes no configuration")),
        None => serde_json::from_str("null").map_err(|error| without_position(&error)),
    }
}

/// The user wrote TOML: a position in the JSON would mislead.
fn without_position(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if let Some(end) = message.rfind(" at line ") {
        message.truncate(end);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct Config {
        key_list: Vec<Key>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Key {
        owner: String,
    }

    #[test]
    fn an_error_names_the_key() {
        fn check(json: &str, expected: &str) {
            assert_eq!(parse::<Config>(json).unwrap_err(), expected, "{json}");
        }
        check("{}", "missing field `key-list`");
        check(r#"{"key-list": 1}"#, "`key-list`: invalid type: integer `1`, expected a sequence");
        check(r#"{"key-list": [{"owner": "a"}, {}]}"#, "`key-list[1]`: missing field `owner`");
        check(
            r#"{"key-list": [{"owner": 7}]}"#,
            "`key-list[0].owner`: invalid type: integer `7`, expected a string",
        );
        check(r#"{"keylist": []}"#, "`keylist`: unknown field `keylist`, expected `key-list`");
    }

    #[test]
    fn a_plugin_without_configuration_takes_no_keys() {
        assert_eq!(parse::<()>("{}"), Ok(()));
        assert_eq!(
            parse::<()>(r#"{"a": 1}"#),
            Err("unknown key `a`: the plugin takes no configuration".to_owned())
        );
    }
}
