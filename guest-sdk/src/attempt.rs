//! What the upstream and error phases are told. Must not know who reads it.

use crate::Response;

/// The attempt that is about to be sent: WIT `upstream-request-filter.attempt`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first.
    pub number: u32,
    /// Name of the upstream.
    pub upstream: String,
    /// Address and port of the peer.
    pub peer: String,
}

/// What went wrong: WIT `error-filter.failure`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The word of the access log's `error`: `connect-failed`, `upstream-timeout`, `no-peer`, `trap` and so on.
    pub error: String,
    /// The status of the page that the proxy would send.
    pub status: u16,
    /// How many attempts were made so far.
    pub attempts: u32,
    /// Name of the upstream, where one was asked.
    pub upstream: Option<String>,
    /// Address and port of the peer that was tried last.
    pub peer: Option<String>,
    /// Whether [`ErrorVerdict::Retry`] is possible: the request can be sent again safely.
    pub can_retry: bool,
}

/// What the error phase decided: WIT `error-filter.error-verdict`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ErrorVerdict {
    /// What the proxy does anyway.
    #[default]
    Next,
    /// Ask another peer; as `Next` where there is none, or where [`Failure::can_retry`] is false.
    Retry,
    /// Answer with this, now.
    Respond(Response),
}

impl From<Response> for ErrorVerdict {
    fn from(response: Response) -> Self {
        Self::Respond(response)
    }
}
