//! The query: kept byte for byte, since its inner form is the application's affair, but never with bytes
//! that a request line can't hold. Knows nothing else.

use std::borrow::Cow;

use super::path::push_escape;

/// Why a query is refused, with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadQuery {
    #[error("the query has a control character, a space or a `#`")]
    Byte,
}

/// The query, byte for byte, but with bytes outside of ASCII and `"`, `<`, `>` percent-encoded: the types
/// that carry it on take no others. Takes what follows the `?`.
///
/// # Errors
/// There is a control character, a space or a `#` in it: no request line can hold these (RFC 9112,
/// section 3.2).
pub fn normalize_query(raw: &[u8]) -> Result<Cow<'_, str>, BadQuery> {
    if raw.iter().any(|b| *b <= b' ' || matches!(*b, 0x7f | b'#')) {
        return Err(BadQuery::Byte);
    }
    let needs_escape = |byte: u8| matches!(byte, b'"' | b'<' | b'>' | 0x80..);
    if !raw.iter().any(|b| needs_escape(*b)) {
        return std::str::from_utf8(raw).map(Cow::Borrowed).map_err(|_| BadQuery::Byte);
    }
    let mut out = String::with_capacity(raw.len() * 2);
    for byte in raw {
        if needs_escape(*byte) {
            push_escape(&mut out, *byte);
        } else {
            out.push(char::from(*byte));
        }
    }
    Ok(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &[u8], expected: Result<&str, BadQuery>) {
        assert_eq!(normalize_query(raw).as_deref(), expected.as_ref().map(|s| &**s));
    }

    #[test]
    fn queries() {
        check(b"", Ok(""));
        check(b"a=1&b=%2f%zz&c=/../[x]|{y}^`\\'", Ok("a=1&b=%2f%zz&c=/../[x]|{y}^`\\'"));
        check("q=ü".as_bytes(), Ok("q=%C3%BC"));
        check(b"\xff", Ok("%FF"));
        check(b"a=\"<b>\"", Ok("a=%22%3Cb%3E%22"));
        check(b"a b", Err(BadQuery::Byte));
        check(b"a\0", Err(BadQuery::Byte));
        check(b"a\r\nb", Err(BadQuery::Byte));
        check(b"a\x7f", Err(BadQuery::Byte));
        check(b"a#b", Err(BadQuery::Byte));
    }
}
