//! The request target and the host, from the bytes of a client to the one form that the router matches,
//! plugins see and upstreams are sent. Whatever two parts of the path could read in two ways is either
//! brought to one form here or refused. Knows nothing else.

mod authority;
mod path;
mod query;

use std::borrow::Cow;

pub use authority::{Authority, BadHost, authority, is_address};
pub use path::{BadPath, normalize};
pub use query::{BadQuery, normalize_query};

/// A request target (RFC 9112, section 3.2) with everything in it normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'a> {
    /// Starts with `/`; just `*` in the asterisk form, which only `OPTIONS` may have.
    pub path: Cow<'a, str>,
    /// What follows the first `?`.
    pub query: Option<Cow<'a, str>>,
    /// Only in the absolute form, where it wins over `Host` (RFC 9112, section 3.2.2).
    pub authority: Option<Authority<'a>>,
}

/// Why a request target is refused, with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    /// Neither `/…` nor `http(s)://…` nor `*`.
    #[error("the request target is neither a path nor an `http` or `https` URL")]
    Form,
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error(transparent)]
    Path(#[from] BadPath),
    #[error(transparent)]
    Query(#[from] BadQuery),
}

/// Reads and normalises a request target in origin, absolute (`http` and `https`) or asterisk form.
/// Allocates only where something has to be changed.
///
/// # Errors
/// The target has none of these forms, or one of its parts is refused.
pub fn parse(raw: &[u8]) -> Result<Target<'_>, BadTarget> {
    if raw.first() == Some(&b'/') {
        return origin_form(raw);
    }
    if raw == b"*" {
        return Ok(Target { path: Cow::Borrowed("*"), query: None, authority: None });
    }
    let rest = without_scheme(raw).ok_or(BadTarget::Form)?;
    let end = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let (host, rest) = rest.split_at_checked(end).ok_or(BadTarget::Form)?;
    let host = authority(host)?;
    let target = match rest.first() {
        Some(b'/') => origin_form(rest)?,
        // RFC 9112, section 3.2.1: an empty path is sent as `/`.
        _ => {
            let (path, query) = split(rest);
            if !path.is_empty() {
                return Err(BadTarget::Form);
            }
            Target {
                path: Cow::Borrowed("/"),
                query: query.map(normalize_query).transpose()?,
                authority: None,
            }
        }
    };
    Ok(Target { authority: Some(host), ..target })
}

/// Splits a target at its first `?`: the path, and the query without the `?`.
pub fn split(target: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut parts = target.splitn(2, |b| *b == b'?');
    (parts.next().unwrap_or_default(), parts.next())
}

fn origin_form(raw: &[u8]) -> Result<Target<'_>, BadTarget> {
    let (path, query) = split(raw);
    Ok(Target { path: normalize(path)?, query: query.map(normalize_query).transpose()?, authority: None })
}

fn without_scheme(raw: &[u8]) -> Option<&[u8]> {
    [b"http://".as_slice(), b"https://"].into_iter().find_map(|scheme| {
        let (start, rest) = raw.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: Result<(&str, Option<&str>, Option<&str>), BadTarget>) {
        let target = parse(raw.as_bytes());
        let seen = match &target {
            Ok(t) => Ok((&*t.path, t.query.as_deref(), t.authority.as_ref().map(Authority::as_str))),
            Err(bad) => Err(*bad),
        };
        assert_eq!(seen, expected, "{raw}");
    }

    #[test]
    fn forms_of_rfc_9112_section_3_2() {
        check("/", Ok(("/", None, None)));
        check("/a/../b?x=/../y", Ok(("/b", Some("x=/../y"), None)));
        check("/a?", Ok(("/a", Some(""), None)));
        check("/a?b?c", Ok(("/a", Some("b?c"), None)));
        check("//evil.test/a", Ok(("/evil.test/a", None, None)));
        check("*", Ok(("*", None, None)));
        check("http://A.test", Ok(("/", None, Some("a.test"))));
        check("HTTPS://a.test:443/x//y?q", Ok(("/x/y", Some("q"), Some("a.test:443"))));
        check("http://a.test?q=1", Ok(("/", Some("q=1"), Some("a.test"))));
        check("http://[::1]:80/", Ok(("/", None, Some("[::1]:80"))));
        check("http://a.test/x?http://b.test/", Ok(("/x", Some("http://b.test/"), Some("a.test"))));
        check("", Err(BadTarget::Form));
        check("a.test:443", Err(BadTarget::Form));
        check("*?x", Err(BadTarget::Form));
        check("x", Err(BadTarget::Form));
        check("ftp://a.test/", Err(BadTarget::Form));
        check("http:/a.test/", Err(BadTarget::Form));
        check("http://a.test#f", Err(BadTarget::Form));
        check("http:///x", Err(BadTarget::Host(BadHost::Empty)));
        check("http://u@a.test/x", Err(BadTarget::Host(BadHost::Byte)));
        check("http://a.test/%zz", Err(BadTarget::Path(BadPath::Escape)));
        check("/a?b c", Err(BadTarget::Query(BadQuery::Byte)));
        check("/a#b", Err(BadTarget::Path(BadPath::Byte)));
    }

    /// What is made here is always taken by the types that carry it on.
    #[test]
    fn every_accepted_byte_makes_a_path_and_query() {
        for byte in 0..=u8::MAX {
            let raw = [b"/a".as_slice(), &[byte], b"b?c", &[byte], b"d"].concat();
            let Ok(target) = parse(&raw) else { continue };
            let text = format!("{}?{}", target.path, target.query.as_deref().unwrap_or_default());
            let parsed = http::uri::PathAndQuery::try_from(text.as_str());
            assert_eq!(parsed.expect("a valid target").as_str(), text);
        }
    }
}
