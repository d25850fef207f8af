//! The one spelling of a `content-length` that nobody reads in two ways. Knows no heads.

/// Whether a value is one number, in digits alone and without leading noughts (RFC 9110, section 8.6, allows
/// more than recipients agree on).
pub(crate) fn is_plain(value: &[u8]) -> bool {
    match value {
        [] => false,
        [digit] => digit.is_ascii_digit(),
        [first, ..] => *first != b'0' && value.iter().all(u8::is_ascii_digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_one_spelling() {
        let check = |value: &str, expected| assert_eq!(is_plain(value.as_bytes()), expected, "{value}");
        for plain in ["0", "5", "10", "1048576"] {
            check(plain, true);
        }
        for other in ["", "00", "005", "+5", "5, 5", "5 ", "0x5"] {
            check(other, false);
        }
    }
}
