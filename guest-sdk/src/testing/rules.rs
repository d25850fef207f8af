//! What targets and attributes may be, by the words of `wit/types.wit`. Must not know what is being changed.

use crate::header::is_token;
use crate::{AttributeError, HashKeyError, TargetError};

const MAX_TARGET: usize = 16 * 1024;
const MAX_ATTRIBUTE_KEY: usize = 64;
const MAX_ATTRIBUTE: usize = 8 * 1024;
const MAX_HASH_KEY: usize = 8 * 1024;

pub(crate) fn method(method: &str) -> Result<(), TargetError> {
    valid(method, |method| is_token(method) && method != "CONNECT")
}

pub(crate) fn authority(authority: &str) -> Result<(), TargetError> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host_fits = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
        }
    };
    valid(authority, |_| host_fits && port.is_none_or(|port| port.parse::<u16>().is_ok()))
}

pub(crate) fn path(path: &str) -> Result<(), TargetError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/%".contains(&b);
    valid(path, |path| path.starts_with('/') && path.bytes().all(fits) && triplets(path))
}

/// Queries of clients are looser than RFC 3986, and have to pass when a plugin adds to them.
pub(crate) fn query(query: &str) -> Result<(), TargetError> {
    valid(query, |query| query.bytes().all(|b| b.is_ascii_graphic() && b != b'#'))
}

pub(crate) fn attribute(key: &str, value: &[u8]) -> Result<(), AttributeError> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    if key.is_empty() || key.len() > MAX_ATTRIBUTE_KEY || !key.bytes().all(fits) {
        return Err(AttributeError::InvalidKey);
    }
    if value.len() > MAX_ATTRIBUTE { Err(AttributeError::TooLarge) } else { Ok(()) }
}

pub(crate) fn hash_key(key: &[u8]) -> Result<(), HashKeyError> {
    if key.len() > MAX_HASH_KEY { Err(HashKeyError::TooLarge) } else { Ok(()) }
}

fn valid(text: &str, fits: impl FnOnce(&str) -> bool) -> Result<(), TargetError> {
    if text.len() <= MAX_TARGET && fits(text) { Ok(()) } else { Err(TargetError::Invalid) }
}

/// Whether every `%` starts a triplet.
fn triplets(text: &str) -> bool {
    let digits = |rest: &str| rest.as_bytes().iter().take(2).filter(|b| b.is_ascii_hexdigit()).count() == 2;
    text.split('%').skip(1).all(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        fn check(rule: fn(&str) -> Result<(), TargetError>, fine: &[&str], refused: &[&str]) {
            for text in fine {
                assert_eq!(rule(text), Ok(()), "{text}");
            }
            for text in refused {
                assert_eq!(rule(text), Err(TargetError::Invalid), "{text}");
            }
        }
        check(method, &["GET", "PROPFIND", "m-search"], &["", "A B", "CONNECT"]);
        check(
            authority,
            &["a.test", "a.test:80", "[::1]", "[::1]:8080", "10.0.0.1"],
            &["", ":80", "a b", "a:99999", "u@a", "[x]"],
        );
        check(path, &["/", "/a%20b", "/a;b=1"], &["", "a", "/a?b", "/a#b", "/ä", "/%2", "/%zz", "/ "]);
        check(query, &["", "a=1&b=%", "a[]={}"], &["a b", "a#b", "ä", "\n"]);
        check(path, &[], &[&format!("/{}", "a".repeat(MAX_TARGET))]);
    }

    #[test]
    fn attributes() {
        assert_eq!(attribute("a.b-c_1", b""), Ok(()));
        for key in ["", "A", "a b", "ä", &"a".repeat(65)] {
            assert_eq!(attribute(key, b""), Err(AttributeError::InvalidKey), "{key}");
        }
        assert_eq!(attribute("a", &[0; MAX_ATTRIBUTE + 1]), Err(AttributeError::TooLarge));
    }
}
