//! What the user writes. Must not know what it is used for.

use edgewright_sdk::Header;
use serde::Deserialize;

/// One day: long enough for a session, short enough for a release to end.
const MAX_AGE: u32 = 24 * 60 * 60;

/// `config` of the plugin; each key is explained in README.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) upstream: String,
    pub(crate) percent: f64,
    #[serde(default = "cookie")]
    pub(crate) cookie: String,
    #[serde(default = "header")]
    pub(crate) header: String,
    #[serde(default = "sticky")]
    pub(crate) sticky: bool,
    #[serde(default = "max_age")]
    pub(crate) max_age: u32,
}

impl Config {
    /// # Errors
    /// Which key is wrong and why. The share is checked where it is made.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.upstream.is_empty() {
            return Err("`upstream` is empty: give the name of one of `[upstreams]`".to_owned());
        }
        Header::check_name(&self.header).map_err(|error| format!("`header`: `{}`: {error}", self.header))?;
        // A cookie's name is a token too (RFC 6265, section 4.1.1), but any: none belongs to the proxy.
        Header::check_name(&format!("x-{}", self.cookie))
            .ok()
            .filter(|()| !self.cookie.is_empty())
            .ok_or_else(|| format!("`cookie`: `{}` is not a cookie's name", self.cookie))
    }
}

fn cookie() -> String {
    "canary".to_owned()
}

fn header() -> String {
    "x-canary".to_owned()
}

fn sticky() -> bool {
    true
}

fn max_age() -> u32 {
    MAX_AGE
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing;

    use crate::Canary;

    #[test]
    fn mistakes_are_load_errors() {
        fn check(config: &str, expected: &str) {
            let error = testing::configure::<Canary>(config).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
        check("{}", "missing field `upstream`");
        check(r#"{ "upstream": "", "percent": 1 }"#, "`upstream` is empty");
        check(r#"{ "upstream": "a", "percent": "5%" }"#, "`percent`: invalid type");
        check(r#"{ "upstream": "a", "percent": 101 }"#, "`percent`: `101`");
        check(r#"{ "upstream": "a", "percent": 1, "cookie": "a b" }"#, "`cookie`: `a b`");
        check(r#"{ "upstream": "a", "percent": 1, "cookie": "" }"#, "`cookie`: ``");
        check(r#"{ "upstream": "a", "percent": 1, "header": "host" }"#, "belongs to the proxy");
        check(r#"{ "upstream": "a", "percent": 1, "weight": 1 }"#, "unknown field `weight`");
    }
}
