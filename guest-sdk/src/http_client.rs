//! HTTP requests of the plugin's own: WIT `http-client`. Granted by `grants = { http = ["https://…"] }` in the
//! manifest. Must not know how an answer comes.
//!
//! ```
//! use edgewright_sdk::http_client::{Answer, Call};
//! use edgewright_sdk::testing;
//!
//! # fn main() -> Result<(), edgewright_sdk::HttpError> {
//! // In a test, the double answers; in the proxy, the origin does.
//! testing::on_http(|call| Ok(Answer::new(200).body(format!("asked for {}", call.url()))));
//!
//! let answer = Call::get("https://auth.example.com/me").header("authorization", "Bearer abc").send()?;
//! assert_eq!((answer.status(), answer.body_bytes()), (200, &b"asked for https://auth.example.com/me"[..]));
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use crate::host::http_client as host;
use crate::{Bytes, Header, HttpError};

/// What is sent: WIT `http-client.call`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Bytes,
    pub(crate) timeout: Option<Duration>,
}

/// What came back: WIT `http-client.answer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Bytes,
}

impl Call {
    /// A request for an absolute URL of an origin that is granted.
    pub fn new(method: &str, url: &str) -> Self {
        let (method, url) = (method.to_owned(), url.to_owned());
        Self { method, url, headers: Vec::new(), body: Bytes::default(), timeout: None }
    }

    /// A GET request.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: &str, body: impl Into<Bytes>) -> Self {
        Self::new("POST", url).body(body)
    }

    /// Adds a header line, by the rules of [`Request::set_header`](crate::Request::set_header).
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Bytes>) -> Self {
        self.headers.push(Header { name: name.to_owned(), value: value.into() });
        self
    }

    /// Replaces the body, which is at most 1 MiB.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// How long the whole call may take; 500 ms without this. All calls in one call of a phase have 900 ms together.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The header lines.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The body.
    pub fn body_bytes(&self) -> &[u8] {
        &self.body
    }

    /// Sends it, and waits for the whole answer.
    ///
    /// # Errors
    /// See [`HttpError`]. A status of 400 or more is an answer as any other.
    pub fn send(&self) -> Result<Answer, HttpError> {
        send(self)
    }
}

impl Answer {
    /// An empty answer, for tests.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::default() }
    }

    /// Adds a header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Bytes>) -> Self {
        self.headers.push(Header { name: name.to_ascii_lowercase(), value: value.into() });
        self
    }

    /// Replaces the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The header lines, in the order of arrival, names in lower case.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The value of the first line of that name, in any case of letters.
    pub fn first(&self, name: &str) -> Option<&Bytes> {
        self.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name)).map(|line| &line.value)
    }

    /// The body.
    pub fn body_bytes(&self) -> &[u8] {
        &self.body
    }
}

/// Sends a request, and waits for the whole answer. As [`Call::send`].
///
/// # Errors
/// See [`HttpError`].
pub fn send(call: &Call) -> Result<Answer, HttpError> {
    host::send(call)
}
