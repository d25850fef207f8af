//! Status and head of the response of the call that is running. Holds nothing, as `Request` does. Must not
//! know whether the proxy is real or a double.

use crate::host::response as host;
use crate::{Bytes, Header, HeaderError, StatusError};

/// Status and head of the response: WIT `response`. Writable in `on_response`, readable in `on_log`, where it
/// is what was sent. Each method is one call to the proxy.
#[derive(Debug)]
pub struct ResponseHead(());

impl ResponseHead {
    pub(crate) const fn current() -> Self {
        Self(())
    }

    /// 200 to 599; 101 for an upgrade; 0 where no response was sent.
    pub fn status(&self) -> u16 {
        host::status()
    }

    /// Replaces the status. The proxy drops the body where the new one has none (204, 304).
    ///
    /// # Errors
    /// Not in 200 to 599, or the response is an upgrade.
    pub fn set_status(&mut self, status: u16) -> Result<(), StatusError> {
        host::set_status(status)
    }

    /// The value of the first line of that name, in any case of letters.
    pub fn header(&self, name: &str) -> Option<Bytes> {
        host::header(name)
    }

    /// The values of all lines of that name, in order.
    pub fn header_all(&self, name: &str) -> Vec<Bytes> {
        host::header_all(name)
    }

    /// Every line, lines of one name next to each other. Copies the whole head.
    pub fn headers(&self) -> Vec<Header> {
        host::headers()
    }

    /// Replaces every line of that name by one.
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn set_header(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        host::set_header(name, value.as_ref())
    }

    /// Adds one line behind those of that name (`set-cookie`, `vary`).
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn append_header(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        host::append_header(name, value.as_ref())
    }

    /// Removes every line of that name. Fine where there is none.
    ///
    /// # Errors
    /// The proxy refused: see [`HeaderError`].
    pub fn remove_header(&mut self, name: &str) -> Result<(), HeaderError> {
        host::remove_header(name)
    }
}
