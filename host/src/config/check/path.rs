//! Path patterns of routes. Only a spelling that normalisation would leave as it is, is taken: so that what
//! is written is what is compared.

use crate::config::model::PathPattern;
use crate::config::{codes, diagnostic::Diagnostic};

/// `/v1/status` or `/v1/*`.
///
/// # Errors
/// It is something else, or not in normalised spelling; the help tells that.
pub(super) fn path(text: &str) -> Result<PathPattern, Diagnostic> {
    let refused = |message: &str, help: String| {
        Diagnostic::error(codes::BAD_PATH_PATTERN, format!("`{text}` {message}")).with_help(help)
    };
    if text == "*" || text.is_empty() {
        return Err(refused("is not a path pattern", "write `/*` to match every path".to_owned()));
    }
    if !text.starts_with('/') {
        return Err(refused("does not start with `/`", format!("write `/{text}`")));
    }
    if let Some((path, _)) = text.split_once('?') {
        let help = format!("write `{path}`, and match parameters with `query = {{ NAME = \"value\" }}`");
        return Err(refused("has a query", help));
    }
    if let Some((path, _)) = text.split_once('#') {
        return Err(refused("has a fragment, which clients never send", format!("write `{path}`")));
    }
    let prefix = text.strip_suffix("/*");
    let path = prefix.unwrap_or(text);
    if let Some((before, _)) = path.split_once('*') {
        let top = before.trim_end_matches('/');
        let all = if top.is_empty() { "every path".to_owned() } else { format!("`{top}` and all below") };
        let help = format!("`*` is the last segment as a whole: `{top}/*` is {all}");
        return Err(refused("has a `*` in the wrong place", help));
    }
    // Of a prefix, what is in front of the star.
    let written = text.strip_suffix('*').unwrap_or(text);
    let normal = normalised(written);
    if normal != written {
        let star = if prefix.is_some() { "*" } else { "" };
        let help = format!("paths are compared in their normalised spelling: `{normal}{star}`");
        return Err(refused("is not a normalised path", help));
    }
    Ok(match prefix {
        Some(prefix) => PathPattern::Prefix(prefix.to_owned()),
        None => PathPattern::Exact(path.to_owned()),
    })
}

/// RFC 3986, section 6.2.2: case of the digits, encoded unreserved characters, dot segments; and no empty
/// segments.
fn normalised(path: &str) -> String {
    let mut segments: Vec<String> = Vec::new();
    let mut parts = path.split('/').skip(1).map(encoded).peekable();
    while let Some(segment) = parts.next() {
        let last = parts.peek().is_none();
        match segment.as_str() {
            ".." => drop(segments.pop()),
            "." => {}
            // An empty last segment is the slash at the end.
            "" if !last => {}
            _ => {
                segments.push(segment);
                continue;
            }
        }
        if last {
            segments.push(String::new());
        }
    }
    segments.iter().fold(String::new(), |path, segment| path + "/" + segment)
}

/// A segment with exactly those bytes encoded that have to be.
fn encoded(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        match escape(rest) {
            Some((decoded, after)) => {
                out.push_str(&spelled(decoded, is_unreserved(decoded)));
                rest = after;
            }
            None => {
                let fits = is_unreserved(byte) || b"!$&'()*+,;=:@".contains(&byte);
                out.push_str(&spelled(byte, fits));
                rest = after;
            }
        }
    }
    out
}

/// The byte of an escape in front, and what follows.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, rest @ ..] = text else { return None };
    let digit = |b: &u8| char::from(*b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(high)? << 4 | digit(low)?, rest))
}

/// A byte as itself where it fits in a path, else escaped.
fn spelled(byte: u8, fits: bool) -> String {
    if fits { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<PathPattern, &str>) {
        match (path(text), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{text}"),
            (Err(got), Err(part)) => {
                let help = got.help.unwrap_or_default();
                assert!(help.contains(part), "{text}: {help}");
            }
            (got, expected) => panic!("{text}: {got:?} and not {expected:?}"),
        }
    }

    #[test]
    fn paths() {
        let exact = |path: &str| Ok(PathPattern::Exact(path.into()));
        let prefix = |path: &str| Ok(PathPattern::Prefix(path.into()));
        check("/", exact("/"));
        check("/v1/status", exact("/v1/status"));
        check("/v1/", exact("/v1/"));
        check("/a%2Fb;v=1", exact("/a%2Fb;v=1"));
        check("/*", prefix(""));
        check("/v1/*", prefix("/v1"));
    }

    #[test]
    fn the_help_tells_the_right_spelling() {
        check("", Err("`/*`"));
        check("*", Err("`/*`"));
        check("v1", Err("`/v1`"));
        check("/v1*", Err("`/v1/*`"));
        check("/*/x", Err("`/*` is every path"));
        check("/v1/*/x", Err("`/v1/*`"));
        check("/v1/x*", Err("`/v1/x/*`"));
        check("/v1?x=1", Err("`/v1`"));
        check("/v1#x", Err("`/v1`"));
        check("/a//b", Err("`/a/b`"));
        check("/a//*", Err("`/a/*`"));
        check("/a/./b", Err("`/a/b`"));
        check("/a/../b", Err("`/b`"));
        check("/../a", Err("`/a`"));
        check("/a/..", Err("`/`"));
        check("/%41", Err("`/A`"));
        check("/a/%2e%2e/b", Err("`/b`"));
        check("/a%2fb", Err("`/a%2Fb`"));
        check("/a b", Err("`/a%20b`"));
        check("/100%", Err("`/100%25`"));
        check("/é", Err("`/%C3%A9`"));
    }
}
