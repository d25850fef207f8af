//! The origins that may call. Must not know what they may do.

/// A set of origins: `https://app.test`, `https://*.app.test`, or any.
#[derive(Debug)]
pub(crate) enum Origins {
    Any,
    These(Vec<Pattern>),
}

#[derive(Debug)]
pub(crate) enum Pattern {
    Exact(String),
    /// `https://` and `.app.test`, with at least one label between them.
    Below {
        scheme: String,
        suffix: String,
    },
}

impl Origins {
    /// # Errors
    /// Which of them is none.
    pub(crate) fn new(origins: &[String]) -> Result<Self, String> {
        match origins {
            [] => {
                Err("`origins` is empty: name the pages that may call, as `https://app.example.com`"
                    .to_owned())
            }
            [any] if any == "*" => Ok(Self::Any),
            some => some.iter().map(|origin| pattern(origin)).collect::<Result<_, _>>().map(Self::These),
        }
    }

    pub(crate) fn are_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Whether this value of `Origin` is one of them. `null` never is: any page can be it.
    pub(crate) fn have(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::These(patterns) => patterns.iter().any(|pattern| pattern.matches(origin)),
        }
    }
}

impl Pattern {
    fn matches(&self, origin: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == origin,
            Self::Below { scheme, suffix } => {
                let label =
                    origin.strip_prefix(scheme.as_str()).and_then(|rest| rest.strip_suffix(suffix.as_str()));
                label.is_some_and(|label| !label.is_empty() && label.bytes().all(is_of_host))
            }
        }
    }
}

/// Browsers write origins in lower case and without the port of the scheme.
fn pattern(text: &str) -> Result<Pattern, String> {
    let wrong =
        || format!("`origins`: `{text}` is not an origin, as `https://app.example.com` is, without a path");
    let lower = text.to_ascii_lowercase();
    let (scheme, rest) = lower.split_once("://").ok_or_else(wrong)?;
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    let (wildcard, name) = match host.strip_prefix("*.") {
        Some(name) => (true, name),
        None => (false, host),
    };
    let is_scheme = !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    if !is_scheme || name.is_empty() || !name.bytes().all(is_of_host) || !is_port {
        return Err(wrong());
    }
    let default_port = matches!((scheme, port), ("http", Some("80")) | ("https", Some("443")));
    let port = port.filter(|_| !default_port).map(|port| format!(":{port}")).unwrap_or_default();
    Ok(if wildcard {
        Pattern::Below { scheme: format!("{scheme}://"), suffix: format!(".{name}{port}") }
    } else {
        Pattern::Exact(format!("{scheme}://{name}{port}"))
    })
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_matched_whole() {
        fn check(pattern: &str, origin: &str, expected: bool) {
            let origins = Origins::new(&[pattern.to_owned()]).unwrap();
            assert_eq!(origins.have(origin), expected, "{pattern} and {origin}");
        }
        check("https://app.test", "https://app.test", true);
        check("https://App.test:443", "https://app.test", true);
        check("https://app.test", "http://app.test", false);
        check("https://app.test", "https://app.test.evil.test", false);
        check("https://app.test", "https://app.test:8443", false);
        check("http://localhost:3000", "http://localhost:3000", true);
        check("https://*.app.test", "https://a.app.test", true);
        check("https://*.app.test", "https://a.b.app.test", true);
        check("https://*.app.test", "https://app.test", false);
        check("https://*.app.test", "https://.app.test", false);
        check("https://*.app.test", "https://evil.test/.app.test", false);
        check("https://*.app.test", "https://evilapp.test", false);
        check("https://app.test", "null", false);
        check("https://app.test", "", false);
    }
}
