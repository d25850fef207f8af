//! What a phase decides: go on, or answer. Must not know how a verdict reaches the proxy.

use crate::{Bytes, Header};

/// What a phase decided: WIT `types.verdict`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Go on with the next plugin of the chain, or with the proxy's own work.
    #[default]
    Next,
    /// Answer with this, now. In `on_request` no upstream is asked; in `on_response` it replaces the
    /// response.
    Respond(Response),
}

impl From<Response> for Verdict {
    fn from(response: Response) -> Self {
        Self::Respond(response)
    }
}

/// A whole response that a plugin makes: WIT `types.response`.
///
/// The proxy adds `content-length` and `date`. A status, name or value that it refuses makes it answer 500,
/// so that a half-made response is never sent.
///
/// ```
/// use edgewright_sdk::prelude::*;
///
/// let verdict: Verdict = Response::new(403).header("content-type", "text/plain").body("no").into();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Bytes,
}

impl Response {
    /// An empty response. The status is 200 to 599.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::default() }
    }

    /// Adds a header line behind those that are there. The same rules hold as for
    /// [`Request::set_header`](crate::Request::set_header).
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.headers.push(Header { name: name.into(), value: value.into() });
        self
    }

    /// Replaces the body, which is at most 1 MiB. It is not sent for a HEAD request, 204 or 304.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The header lines, in the order in which they are sent.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The body as it is now.
    pub fn body_bytes(&self) -> &[u8] {
        &self.body
    }
}
