//! What a plugin may write into a head: the limits of WIT `types.header-error`. The same rules for requests,
//! responses and the responses that plugins make. Knows no phase.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::bindings::types::HeaderError;
use super::exchange::HeadSize;

/// Bytes of a name.
const NAME: usize = 256;

/// Bytes of a value.
const VALUE: usize = 16 * 1024;

/// Lines of a head.
pub(super) const LINES: usize = 128;

/// Bytes of a head, each line with its `: ` and line end.
pub(super) const HEAD: usize = 64 * 1024;

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
    let is_owned = || HOST_OWNED.iter().any(|owned| owned.eq_ignore_ascii_case(name));
    if name.len() > NAME {
        return Err(HeaderError::InvalidName);
    }
    if name.starts_with(':') || is_owned() {
        return Err(HeaderError::HostOwned);
    }
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::InvalidName)
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

/// Whether a head has room for one more line, which it then counts as having. `size` is what is known of the head;
/// `replaced` names lines that go away for the new one. The head is summed up only where nothing is known of it, or
/// where what is known says that there is no room.
pub(super) fn room(
    head: &HeaderMap,
    size: &mut Option<HeadSize>,
    line: HeadSize,
    replaced: Option<&HeaderName>,
) -> Result<(), HeaderError> {
    let known = size.map(|size| size.with(line)).filter(fits);
    let after = known.unwrap_or_else(|| HeadSize::of(head, replaced).with(line));
    if !fits(&after) {
        return Err(HeaderError::TooLarge);
    }
    *size = Some(after);
    Ok(())
}

fn fits(size: &HeadSize) -> bool {
    size.lines <= LINES && size.bytes <= HEAD
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
        let (name, value) = (HeaderName::from_static("a"), HeaderValue::from_static("1"));
        let mut head = HeaderMap::new();
        for _ in 0..LINES - 1 {
            head.append(name.clone(), value.clone());
        }
        let (line, mut size) = (HeadSize::of_line(&name, &value), None);
        assert_eq!(room(&head, &mut size, line, None), Ok(()));
        head.append(name.clone(), value);
        assert_eq!(room(&head, &mut size, line, None), Err(HeaderError::TooLarge));
        assert_eq!(room(&head, &mut None, line, None), Err(HeaderError::TooLarge));
        assert_eq!(room(&head, &mut size, line, Some(&name)), Ok(()));
        head.clear();
        for name in ["c", "d", "e", "f"] {
            head.insert(name, HeaderValue::from_str(&"v".repeat(16_000)).expect("a value"));
        }
        let large = HeaderValue::from_str(&"v".repeat(2_000)).expect("a value");
        let large = HeadSize::of_line(&HeaderName::from_static("b"), &large);
        assert_eq!(room(&head, &mut None, large, None), Err(HeaderError::TooLarge));
    }

    #[test]
    fn what_is_known_of_a_head_is_never_too_little() {
        let value = HeaderValue::from_static("1");
        let (mut head, mut size) = (HeaderMap::new(), None);
        let (mut taken, mut refused) = (0, 0);
        for number in 0..1_000 {
            // The same name again and again, and now and then a new one, until there is no room for those.
            let name = format!("x-{}", if number % 3 == 0 { number } else { 1 });
            let name = HeaderName::try_from(name).expect("a name");
            let line = HeadSize::of_line(&name, &value);
            match room(&head, &mut size, line, Some(&name)) {
                Ok(()) => {
                    head.insert(name, value.clone());
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
            let exact = HeadSize::of(&head, None);
            assert!(fits(&exact) && size.is_some_and(|size| size.lines >= exact.lines), "{size:?} {exact:?}");
        }
        assert_eq!((head.len(), taken > 600, refused > 100), (LINES, true, true), "{taken} {refused}");
    }
}
