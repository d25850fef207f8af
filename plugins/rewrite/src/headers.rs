//! Header edits, the same for requests and responses. Must not know of which head.

use edgewright_sdk::{Header, HeaderError, Request, ResponseHead};

use crate::config::Headers;

/// Edits whose names and values are fine: what the proxy can still refuse is a head that grows too large.
pub(crate) struct HeaderEdits(Headers);

impl HeaderEdits {
    /// # Errors
    /// Which header under `key` can't be changed.
    pub(crate) fn new(key: &str, headers: Headers) -> Result<Self, String> {
        for (edit, lines) in [("set", &headers.set), ("append", &headers.append)] {
            for (name, value) in lines {
                let wrong = |error: HeaderError| format!("`{key}.{edit}.{name}`: {error}");
                Header::check_name(name).map_err(wrong)?;
                Header::check_value(value).map_err(wrong)?;
            }
        }
        for name in &headers.remove {
            Header::check_name(name).map_err(|error| format!("`{key}.remove`: `{name}`: {error}"))?;
        }
        Ok(Self(headers))
    }

    /// Removes, then sets, then appends; stops at the first refusal.
    ///
    /// # Errors
    /// What the proxy refused.
    pub(crate) fn apply(&self, head: &mut impl EditHeaders) -> Result<(), HeaderError> {
        let Headers { set, append, remove } = &self.0;
        for name in remove {
            head.remove(name)?;
        }
        for (name, value) in set {
            head.set(name, value)?;
        }
        for (name, value) in append {
            head.append(name, value)?;
        }
        Ok(())
    }
}

/// What both heads can have done to them.
pub(crate) trait EditHeaders {
    fn set(&mut self, name: &str, value: &str) -> Result<(), HeaderError>;
    fn append(&mut self, name: &str, value: &str) -> Result<(), HeaderError>;
    fn remove(&mut self, name: &str) -> Result<(), HeaderError>;
}

macro_rules! edit_headers {
    ($head:ty) => {
        impl EditHeaders for $head {
            fn set(&mut self, name: &str, value: &str) -> Result<(), HeaderError> {
                self.set_header(name, value)
            }

            fn append(&mut self, name: &str, value: &str) -> Result<(), HeaderError> {
                self.append_header(name, value)
            }

            fn remove(&mut self, name: &str) -> Result<(), HeaderError> {
                self.remove_header(name)
            }
        }
    };
}

edit_headers!(Request);
edit_headers!(ResponseHead);
