//! Requests that come back to the proxy over others (RFC 8586): each request carries a token of this process on, and one
//! that brings it along has been here. Knows no upstreams.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::failure::{Failed, Kind};

const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");

/// Made up, so that no other proxy has it, and replicas of this one don't take each other for themselves.
static TOKEN: LazyLock<HeaderValue> = LazyLock::new(|| {
    let text = format!("edgewright-{:016x}", fastrand::u64(..));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("edgewright"))
});

/// Adds this process to those that the request has come through.
///
/// # Errors
/// It is among them already.
pub(super) fn mark(headers: &mut HeaderMap) -> Result<(), Failed> {
    let been_here = headers.get_all(CDN_LOOP).iter().any(|line| names(line.as_bytes(), TOKEN.as_bytes()));
    if been_here {
        return Err(Failed::because(Kind::Loop, "the request came back to the proxy"));
    }
    headers.append(CDN_LOOP, TOKEN.clone());
    Ok(())
}

/// Whether a list of tokens with parameters has the token.
fn names(list: &[u8], token: &[u8]) -> bool {
    list.split(|byte| *byte == b',')
        .filter_map(|info| info.split(|byte| *byte == b';').next())
        .any(|id| id.trim_ascii() == token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_among_others() {
        let check = |list: &str, expected| assert_eq!(names(list.as_bytes(), b"me"), expected, "{list}");
        check("me", true);
        check("a, me;v=1 , b", true);
        check("a;me, b; x=\"me\"", false);
        check("me2, notme", false);
        check("", false);
    }

    #[test]
    fn rfc_8586_a_request_is_marked_once_and_known_again() {
        let mut headers = HeaderMap::new();
        headers.append(CDN_LOOP, HeaderValue::from_static("other; hop=1"));
        assert_eq!(mark(&mut headers), Ok(()));
        let lines: Vec<_> = headers.get_all(CDN_LOOP).iter().collect();
        assert_eq!((lines[0].as_bytes(), lines[1]), (&b"other; hop=1"[..], &*TOKEN));
        assert_eq!(mark(&mut headers).unwrap_err().kind, Kind::Loop);
    }
}
