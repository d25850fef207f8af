//! One header line, and what the contract lets a plugin set. Must not know of which head.

use crate::{Bytes, HeaderError};

const MAX_NAME: usize = 256;
const MAX_VALUE: usize = 16 * 1024;
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

/// One header line: WIT `types.header`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Field name; in lower case where the proxy gives it.
    pub name: String,
    /// Field value without surrounding white space: any byte but NUL, CR and LF.
    pub value: Bytes,
}

impl Header {
    /// Whether a plugin may set a header of this name: for `configure`, so that a name in the configuration
    /// is refused at load and not at each request.
    ///
    /// # Errors
    /// What the proxy would say: `InvalidName` or `HostOwned`.
    ///
    /// ```
    /// use edgewright_sdk::{Header, HeaderError};
    ///
    /// assert_eq!(Header::check_name("x-owner"), Ok(()));
    /// assert_eq!(Header::check_name("x owner"), Err(HeaderError::InvalidName));
    /// assert_eq!(Header::check_name("Host"), Err(HeaderError::HostOwned));
    /// ```
    pub fn check_name(name: &str) -> Result<(), HeaderError> {
        if name.starts_with(':') || HOST_OWNED.iter().any(|owned| owned.eq_ignore_ascii_case(name)) {
            return Err(HeaderError::HostOwned);
        }
        if name.len() > MAX_NAME || !is_token(name) {
            return Err(HeaderError::InvalidName);
        }
        Ok(())
    }

    /// Whether a header may have this value, as far as that does not depend on the rest of the head.
    ///
    /// # Errors
    /// What the proxy would say: `InvalidValue` or `TooLarge`.
    pub fn check_value(value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        let value = value.as_ref();
        if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
            return Err(HeaderError::InvalidValue);
        }
        if value.len() > MAX_VALUE { Err(HeaderError::TooLarge) } else { Ok(()) }
    }
}

/// RFC 9110, section 5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_plugin_may_set() {
        fn check(name: &str, expected: Result<(), HeaderError>) {
            assert_eq!(Header::check_name(name), expected, "{name}");
        }
        check("X-A", Ok(()));
        check("", Err(HeaderError::InvalidName));
        check("a b", Err(HeaderError::InvalidName));
        check("ä", Err(HeaderError::InvalidName));
        check(&"a".repeat(256), Ok(()));
        check(&"a".repeat(257), Err(HeaderError::InvalidName));
        check("Content-Length", Err(HeaderError::HostOwned));
        check(":path", Err(HeaderError::HostOwned));
    }

    #[test]
    fn values_that_a_header_may_have() {
        fn check(value: &[u8], expected: Result<(), HeaderError>) {
            assert_eq!(Header::check_value(value), expected);
        }
        check(b"", Ok(()));
        check(b"caf\xe9\t", Ok(()));
        check(b"a\nb", Err(HeaderError::InvalidValue));
        check(b"a\0", Err(HeaderError::InvalidValue));
        check(&[b'x'; MAX_VALUE], Ok(()));
        check(&[b'x'; MAX_VALUE + 1], Err(HeaderError::TooLarge));
    }
}
