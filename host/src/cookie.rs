//! Cookies of a request: one reading for the router and for plugins. Knows nothing else.

/// The value of the first cookie of that name over all `Cookie` lines, in order.
///
/// Pairs are split at `;` and trimmed of spaces and tabs; words without `=` are passed over; names are
/// case-sensitive (RFC 6265, section 5.4); quotes are part of the value.
pub fn value<'a>(lines: impl IntoIterator<Item = &'a [u8]>, name: &[u8]) -> Option<&'a [u8]> {
    lines.into_iter().flat_map(|line| line.split(|b| *b == b';')).find_map(|pair| {
        let equals = pair.iter().position(|b| *b == b'=')?;
        let (key, value) = pair.split_at_checked(equals)?;
        (trim(key) == name).then(|| trim(value.get(1..).unwrap_or_default()))
    })
}

fn trim(bytes: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let Some(start) = bytes.iter().position(|b| !blank(b)) else { return &[] };
    let end = bytes.iter().rposition(|b| !blank(b)).map_or(start, |last| last + 1);
    bytes.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: Option<&str>) {
        let seen = value(lines.iter().map(|line| line.as_bytes()), b"variant");
        assert_eq!(seen, expected.map(str::as_bytes), "{lines:?}");
    }

    #[test]
    fn odd_but_legal_cookies() {
        check(&["OnlyHttp;variant=b"], Some("b"));
        check(&["variant=b"], Some("b"));
        check(&["a=1;variant=b"], Some("b"));
        check(&["a=1;  variant=b ; z=2"], Some("b"));
        check(&["a=1;\tvariant\t=\tb"], Some("b"));
        check(&["variant=\"b\""], Some("\"b\""));
        check(&["xvariant=b"], None);
        check(&["Variant=b"], None);
        check(&["variant=bb"], Some("bb"));
        check(&["variant=a; variant=b"], Some("a"));
        check(&["variant=a=b"], Some("a=b"));
        check(&["a=1", "variant=b"], Some("b"));
        check(&["variant="], Some(""));
        check(&["variant= "], Some(""));
        check(&["variant", "; ;=;", "variant=b"], Some("b"));
        check(&["variant"], None);
        check(&[""], None);
        check(&[], None);
    }

    #[test]
    fn values_are_bytes() {
        assert_eq!(value([b"a=\xff".as_slice()], b"a"), Some(b"\xff".as_slice()));
    }
}
