//! What a plugin may write into a head: the limits of WIT `types.header-error`. The same rules for requests,
//! responses and the responses that plugins make. Knows no phase.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::bindings::types::HeaderError;

/// Bytes of a name.
const NAME: usize = 256;

/// Bytes of a value.
const VALUE: usize = 16 * 1024;

/// Lines of a head.
pub(super) const LINES: usize = 128;

/// Bytes of a head, each line with its `: ` and line end.
pub(super) const HEAD: usize = 64 * 1024;

/// What a line has beside its name and value.
const LINE: usize = 4;

/// Fields that the host keeps true.
const HOST_OWNED: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A name that a plugin may write.
pub(super) fn name(name: &str) -> Result<HeaderName, HeaderError> {
    if name.starts_with(':') {
        return Err(HeaderError::HostOwned);
    }
    if name.len() > NAME {
        return Err(HeaderError::InvalidName);
    }
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::InvalidName)?;
    if HOST_OWNED.contains(&name.as_str()) { Err(HeaderError::HostOwned) } else { Ok(name) }
}

/// A value that a plugin may write, without the white space around it. Other control characters than the
/// three that the contract names are refused as well: RFC 9110, section 5.5.
pub(super) fn value(value: Vec<u8>) -> Result<HeaderValue, HeaderError> {
    if value.len() > VALUE {
        return Err(HeaderError::TooLarge);
    }
    let trimmed = trim(&value);
    let value = if trimmed.len() == value.len() {
        HeaderValue::try_from(value)
    } else {
        HeaderValue::from_bytes(trimmed)
    };
    value.map_err(|_| HeaderError::InvalidValue)
}

/// Whether a head has room for one more line. `replaced` names lines that go away for it.
pub(super) fn room(
    head: &HeaderMap,
    name: &HeaderName,
    value: &HeaderValue,
    replaced: Option<&HeaderName>,
) -> Result<(), HeaderError> {
    let mut lines = 1;
    let mut bytes = line(name, value);
    for (name, value) in head {
        if replaced != Some(name) {
            lines += 1;
            bytes += line(name, value);
        }
    }
    if lines > LINES || bytes > HEAD { Err(HeaderError::TooLarge) } else { Ok(()) }
}

/// Bytes of one line.
pub(super) fn line(name: &HeaderName, value: &HeaderValue) -> usize {
    name.as_str().len() + value.len() + LINE
}

fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        fn check(input: &str, expected: Result<&str, HeaderError>) {
            let name = name(input);
            assert_eq!(name.as_ref().map(HeaderName::as_str), expected.as_ref().copied(), "{input}");
        }
        check("X-Key", Ok("x-key"));
        check("", Err(HeaderError::InvalidName));
        check("a b", Err(HeaderError::InvalidName));
        check("ä", Err(HeaderError::InvalidName));
        check(&"a".repeat(256), Ok(&"a".repeat(256)));
        check(&"a".repeat(257), Err(HeaderError::InvalidName));
        check(":path", Err(HeaderError::HostOwned));
        check("Content-Length", Err(HeaderError::HostOwned));
        check("HOST", Err(HeaderError::HostOwned));
        check("TE", Err(HeaderError::HostOwned));
    }

    #[test]
    fn values() {
        fn check(input: &[u8], expected: Result<&[u8], HeaderError>) {
            let value = value(input.to_vec());
            assert_eq!(value.as_ref().map(HeaderValue::as_bytes), expected.as_ref().copied(), "{input:?}");
        }
        check(b"plain", Ok(b"plain"));
        check(b" \tpadded in side\t ", Ok(b"padded in side"));
        check(b"  ", Ok(b""));
        check(b"\xa1\xff", Ok(b"\xa1\xff"));
        check(b"a\rb", Err(HeaderError::InvalidValue));
        check(b"a\nb", Err(HeaderError::InvalidValue));
        check(b"a\0b", Err(HeaderError::InvalidValue));
        check(&[b'a'; VALUE + 1], Err(HeaderError::TooLarge));
    }

    #[test]
    fn heads_are_bounded() {
        let mut head = HeaderMap::new();
        let (key, value) = (HeaderName::from_static("a"), HeaderValue::from_static("1"));
        for _ in 0..LINES - 1 {
            head.append(key.clone(), value.clone());
        }
        let other = HeaderName::from_static("b");
        assert_eq!(room(&head, &other, &value, None), Ok(()));
        head.append(key.clone(), value.clone());
        assert_eq!(room(&head, &other, &value, None), Err(HeaderError::TooLarge));
        assert_eq!(room(&head, &key, &value, Some(&key)), Ok(()));
        let mut head = HeaderMap::new();
        for name in ["c", "d", "e", "f"] {
            head.insert(name, HeaderValue::from_str(&"v".repeat(16_000)).expect("a value"));
        }
        let large = HeaderValue::from_str(&"v".repeat(2_000)).expect("a value");
        assert_eq!(room(&head, &other, &large, None), Err(HeaderError::TooLarge));
    }
}
