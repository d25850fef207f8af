//! What the user writes. Must not know what it is used for.

use edgewright_sdk::Header;
use serde::Deserialize;

/// `config` of the plugin; each key is explained in README.md. No `Debug`: it would show the keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) keys: Vec<Key>,
    #[serde(default = "header")]
    pub(crate) header: String,
    #[serde(default = "owner_header")]
    pub(crate) owner_header: String,
    #[serde(default = "realm")]
    pub(crate) realm: String,
    #[serde(default = "strip_key")]
    pub(crate) strip_key: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Key {
    pub(crate) key: String,
    pub(crate) owner: String,
}

impl Config {
    /// # Errors
    /// Which key is wrong and why. The keys themselves are the keyring's to check.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (key, name) in [("header", &self.header), ("owner-header", &self.owner_header)] {
            Header::check_name(name).map_err(|error| format!("`{key}`: `{name}`: {error}"))?;
        }
        if self.header.eq_ignore_ascii_case(&self.owner_header) {
            return Err("`owner-header` is the same as `header`: give it another name".to_owned());
        }
        let quotable = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !matches!(byte, b'"' | b'\\');
        if !self.realm.bytes().all(quotable) {
            return Err("`realm`: only printable ASCII without `\"` and `\\`".to_owned());
        }
        Ok(())
    }
}

fn header() -> String {
    "x-api-key".to_owned()
}

fn owner_header() -> String {
    "x-api-owner".to_owned()
}

fn realm() -> String {
    "api".to_owned()
}

fn strip_key() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing;

    use crate::ApiKey;

    #[test]
    fn mistakes_are_load_errors() {
        fn check(extra: &str, expected: &str) {
            let config = format!(r#"{{ "keys": [{{"key": "12345678", "owner": "a"}}], {extra} }}"#);
            let error = testing::configure::<ApiKey>(&config).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
        check(r#""header": "x key""#, "`header`: `x key`: the header's name is not a token");
        check(r#""owner-header": "Host""#, "`owner-header`: `Host`: the header belongs to the proxy");
        check(r#""owner-header": "X-Api-Key""#, "`owner-header` is the same as `header`");
        check(r#""realm": "a\"b""#, "`realm`: only printable ASCII");
        check(r#""query-parameter": "key""#, "unknown field `query-parameter`");
    }
}
