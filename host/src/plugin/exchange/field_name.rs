//! The name of a field that a plugin writes. Must not know which names are the host's own.

use bytes::Bytes;
use http::HeaderName;

/// A name that was checked to be a token, spelled as the plugin spells it: so peers of HTTP/1 are sent it. It is
/// made of the plugin's own string and copied nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldName(Bytes);

impl FieldName {
    /// `None` where it is no token: RFC 9110, section 5.1.
    pub(in crate::plugin) fn new(text: String) -> Option<Self> {
        let is_name = !text.is_empty() && text.bytes().all(is_token);
        is_name.then(|| Self(Bytes::from(text)))
    }

    /// In whatever case of letters.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Whether it is this name, in any case of letters.
    pub fn is(&self, other: &HeaderName) -> bool {
        self.0.eq_ignore_ascii_case(other.as_str().as_bytes())
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_the_library_takes_for_one() {
        for byte in 0..=127_u8 {
            let text = format!("x{}", char::from(byte));
            let theirs = HeaderName::from_bytes(text.as_bytes()).ok();
            let ours = FieldName::new(text);
            assert_eq!(ours.is_some(), theirs.is_some(), "{byte}");
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                assert!(ours.is(&theirs), "{byte}");
            }
        }
        assert_eq!(FieldName::new("ä".into()), None);
        assert_eq!(FieldName::new(String::new()), None);
    }
}
