//! What the user writes. Must not know what it is used for.

use std::time::Duration;

use edgewright_sdk::Header;
use edgewright_sdk::counter::{Rule, Window};
use serde::Deserialize;

/// `config` of the plugin; each key is explained in README.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) limit: u32,
    pub(crate) per: String,
    #[serde(default = "window")]
    pub(crate) window: WindowWord,
    #[serde(default = "by")]
    pub(crate) by: By,
    #[serde(default = "scope")]
    pub(crate) scope: Scope,
    #[serde(default = "name")]
    pub(crate) name: String,
    #[serde(default = "ipv6_prefix")]
    pub(crate) ipv6_prefix: u8,
    #[serde(default = "when_full")]
    pub(crate) when_full: WhenFull,
    #[serde(default = "headers")]
    pub(crate) headers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WindowWord {
    Fixed,
    Sliding,
}

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    ClientAddress,
    All,
    Header(String),
    Attribute(String),
}

/// Whether routes count for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    Route,
    Plugin,
}

/// What happens to a client that there is no room to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WhenFull {
    Refuse,
    Allow,
}

impl Config {
    /// # Errors
    /// Which key is wrong and why.
    pub(crate) fn rule(&self) -> Result<Rule, String> {
        if self.limit == 0 {
            return Err("`limit` is 0: nothing would pass".to_owned());
        }
        if self.ipv6_prefix > 128 {
            return Err(format!("`ipv6-prefix`: `{}` is over 128", self.ipv6_prefix));
        }
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.name.is_empty() || self.name.len() > 32 || !self.name.bytes().all(fits) {
            return Err(format!("`name`: `{}` is not 1 to 32 of `a-z`, `0-9` and `-`", self.name));
        }
        if let By::Header(header) = &self.by {
            Header::check_name(header).map_err(|error| format!("`by.header`: `{header}`: {error}"))?;
        }
        let window = match self.window {
            WindowWord::Fixed => Window::Fixed,
            WindowWord::Sliding => Window::Sliding,
        };
        Ok(Rule { limit: self.limit, span: span(&self.per)?, window })
    }
}

/// `10s`, `1m`, `1h` or `1d`.
fn span(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("`per`: `{text}` is not a span of `1s` to `30d`, such as `10s`, `1m`, `1h` or `1d`");
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
    let seconds = number.checked_mul(seconds).filter(|seconds| (1..=30 * 86_400).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

fn window() -> WindowWord {
    WindowWord::Sliding
}

fn by() -> By {
    By::ClientAddress
}

fn scope() -> Scope {
    Scope::Route
}

fn name() -> String {
    "default".to_owned()
}

/// What one customer of a provider is given at least.
fn ipv6_prefix() -> u8 {
    64
}

fn when_full() -> WhenFull {
    WhenFull::Refuse
}

fn headers() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing;

    use crate::RateLimit;

    #[test]
    fn mistakes_are_load_errors() {
        fn check(config: &str, expected: &str) {
            let error = testing::configure::<RateLimit>(config).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
        check(r#"{ "per": "1m" }"#, "missing field `limit`");
        check(r#"{ "limit": 0, "per": "1m" }"#, "`limit` is 0");
        for per in ["", "1", "m", "1.5m", "0s", "31d", "1w", "99999999999999999999s", "1ä"] {
            check(&format!(r#"{{ "limit": 1, "per": "{per}" }}"#), "`per`: ");
        }
        check(r#"{ "limit": 1, "per": "1m", "window": "rolling" }"#, "`window`: unknown variant `rolling`");
        check(r#"{ "limit": 1, "per": "1m", "by": "cookie" }"#, "unknown variant `cookie`");
        check(r#"{ "limit": 1, "per": "1m", "by": { "header": "x y" } }"#, "`by.header`: `x y`");
        check(r#"{ "limit": 1, "per": "1m", "name": "A" }"#, "`name`: `A`");
        check(r#"{ "limit": 1, "per": "1m", "ipv6-prefix": 129 }"#, "`ipv6-prefix`: `129`");
        assert!(testing::configure::<RateLimit>(r#"{ "limit": 1, "per": "30d" }"#).is_ok());
    }
}
