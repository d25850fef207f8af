//! Ids of requests: 128 random bits in hexadecimal, or what a trusted proxy gave.

use std::sync::Arc;

/// A new id: 32 hexadecimal digits. Random, not secret.
pub(crate) fn fresh() -> Arc<str> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let bits = fastrand::u128(..);
    let mut text = [0u8; 32];
    for (index, digit) in text.iter_mut().enumerate() {
        let nibble = (bits >> (4 * index)) & 0xf;
        // A nibble is always within the table.
        *digit = DIGITS.get(nibble as usize).copied().unwrap_or(b'0');
    }
    std::str::from_utf8(&text).unwrap_or_default().into()
}

/// A given id, if it is short and made of letters, digits, `-`, `_` and `.`, so that it can stand in
/// headers, pages and logs as it is.
pub(crate) fn given(value: &[u8]) -> Option<Arc<str>> {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let text = std::str::from_utf8(value).ok()?;
    ((1..=128).contains(&value.len()) && value.iter().all(fits)).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_are_hexadecimal_and_differ() {
        let (one, two) = (fresh(), fresh());
        assert_eq!(one.len(), 32);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(one, two);
    }

    #[test]
    fn given_ids_are_taken_only_where_they_are_harmless() {
        let check = |value: &[u8], expected: Option<&str>| assert_eq!(given(value).as_deref(), expected);
        check(b"a-1_2.B", Some("a-1_2.B"));
        check(b"", None);
        check(b"a b", None);
        check(b"a\"b", None);
        check(&[b'a'; 129], None);
        check(b"\xff", None);
    }
}
