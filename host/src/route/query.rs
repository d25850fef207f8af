//! Parameters of a query, as forms write them. Knows nothing else.

use std::borrow::Cow;

/// The name and value of each parameter, decoded: `&` separates, the first `=` ends the name, `+` is a
/// space, and a `%` that starts no escape stands for itself (WHATWG URL, section 5.1).
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    })
}

/// A name or value.
pub fn decode(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|b| matches!(b, b'%' | b'+')) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    out.push(high << 4 | low);
                    rest = after;
                }
                _ => out.push(b'%'),
            },
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(*byte),
        }
    }
    Cow::Owned(out)
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[(&str, &str)]) {
        let seen: Vec<_> = parameters(query).collect();
        let expected: Vec<_> =
            expected.iter().map(|(n, v)| (Cow::from(n.as_bytes()), Cow::from(v.as_bytes()))).collect();
        assert_eq!(seen, expected, "{query}");
    }

    #[test]
    fn as_forms_write_them() {
        check("", &[]);
        check("&&", &[]);
        check("a", &[("a", "")]);
        check("a=", &[("a", "")]);
        check("=b", &[("", "b")]);
        check("a=b=c&a=d", &[("a", "b=c"), ("a", "d")]);
        check("a+b=c+d", &[("a b", "c d")]);
        check("%61=%2B%26", &[("a", "+&")]);
        check("a=%&b=%4&c=%zz&d=%C3%BC", &[("a", "%"), ("b", "%4"), ("c", "%zz"), ("d", "ü")]);
    }
}
