//! Bytes from a client as a JSON string that is always valid: text stays text, every byte outside of
//! UTF-8 becomes `\xNN` (with the backslash itself escaped by JSON).

use std::fmt;

use serde::{Serialize, Serializer};

/// Bytes that serialise as text.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a [u8]);

/// Longer values are cut: a log line has a bound.
const MAX: usize = 4096;

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, cut) = match self.0.get(..MAX) {
            Some(head) => (head, true),
            None => (self.0, false),
        };
        for chunk in bytes.utf8_chunks() {
            f.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        if cut { f.write_str("…") } else { Ok(()) }
    }
}

impl Serialize for Escaped<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(self.0) {
            Ok(text) if self.0.len() <= MAX => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_always_one_valid_json_string() {
        let check = |bytes: &[u8], expected: &str| {
            let json = serde_json::to_string(&Escaped(bytes)).unwrap();
            assert!(!json.contains('\n'), "{json}");
            let back: String = serde_json::from_str(&json).unwrap();
            assert_eq!(back, expected);
        };
        check(b"plain", "plain");
        check("gr\u{fc}n".as_bytes(), "gr\u{fc}n");
        check(b"a\"b\\c\r\n\t\0", "a\"b\\c\r\n\t\0");
        check(b"Mozilla (\xa1\xb1)", "Mozilla (\\xa1\\xb1)");
        check(b"\xff", "\\xff");
        check(&[b'a'; MAX + 1], &format!("{}…", "a".repeat(MAX)));
    }
}
