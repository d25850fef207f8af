//! What a plugin may make of the request's target, method and authority: the limits of WIT
//! `types.target-error`. Knows no phase.

use std::borrow::Cow;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::{cookie, target};

/// The path of `OPTIONS *`.
const WHOLE_SERVER: &str = "*";

/// Bytes of any part of the target.
const PART: usize = 16 * 1024;

/// A path that a plugin may set, normalised as a client's is.
pub(super) fn path(path: &str) -> Option<Cow<'_, str>> {
    let path = if path.len() <= PART { target::normalize(path.as_bytes()).ok()? } else { return None };
    path.starts_with('/').then_some(path)
}

/// A query that a plugin may set, without its `?`.
pub(super) fn query(query: &str) -> Option<Cow<'_, str>> {
    if query.len() <= PART { target::normalize_query(query.as_bytes()).ok() } else { None }
}

/// Both together.
pub(super) fn join(path: &str, query: Option<&str>) -> Option<PathAndQuery> {
    let target = match query {
        Some(_) if path == WHOLE_SERVER => return None,
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path),
    };
    target.ok()
}

/// A method that a plugin may set for a path: a token, no tunnel, and no echo of what the proxy added to the
/// request. The whole server (`*`) has `OPTIONS` only: RFC 9112, section 3.2.4.
pub(super) fn method(method: &str, path: &str) -> Option<Method> {
    if method.len() > PART {
        return None;
    }
    let method = Method::from_bytes(method.as_bytes()).ok()?;
    match method {
        Method::CONNECT | Method::TRACE => None,
        Method::OPTIONS => Some(method),
        method => (path != WHOLE_SERVER).then_some(method),
    }
}

/// A host with or without a port, as it is sent upstream.
pub(super) fn authority(authority: &str) -> Option<HeaderValue> {
    let authority =
        if authority.len() <= PART { target::authority(authority.as_bytes()).ok()? } else { return None };
    HeaderValue::from_str(authority.as_str()).ok()
}

/// The value of the first cookie of that name: WIT `request.cookie`.
pub(super) fn cookie<'a>(head: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    let lines = head.get_all(header::COOKIE).iter();
    cookie::value(lines.map(HeaderValue::as_bytes), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities() {
        fn check(input: &str, expected: bool) {
            assert_eq!(authority(input).is_some(), expected, "{input}");
        }
        check("example.com", true);
        check("example.com:8080", true);
        check("[::1]:80", true);
        check("", false);
        check("user@example.com", false);
        check("a b", false);
        check("a/b", false);
        check("a\r\nb", false);
    }

    #[test]
    fn methods() {
        fn check(input: (&str, &str), expected: bool) {
            assert_eq!(method(input.0, input.1).is_some(), expected, "{input:?}");
        }
        check(("GET", "/"), true);
        check(("purge", "/"), true);
        check(("OPTIONS", "/"), true);
        check(("trace", "/"), true);
        check(("TRACE", "/"), false);
        check(("CONNECT", "/"), false);
        check(("", "/"), false);
        check(("A B", "/"), false);
        check(("OPTIONS", "*"), true);
        check(("GET", "*"), false);
        check(("TRACE", "*"), false);
    }

    #[test]
    fn paths_and_queries() {
        fn check(input: (&str, &str), expected: Option<&str>) {
            let joined = || join(&path(input.0)?, Some(&*query(input.1)?));
            assert_eq!(joined().as_ref().map(PathAndQuery::as_str), expected, "{input:?}");
        }
        check(("/a", "b=1"), Some("/a?b=1"));
        check(("/a/../b", "c=%2f"), Some("/b?c=%2f"));
        check(("a", "b=1"), None);
        check(("*", ""), None);
        check(("/a b", ""), None);
        check(("/a?b", "c"), None);
        check(("/a", "b c"), None);
        check(("/a", "b#c"), None);
        assert_eq!(join("*", Some("q")), None);
        assert_eq!(join("*", None).as_ref().map(PathAndQuery::as_str), Some("*"));
    }
}
