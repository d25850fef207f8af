//! The finished request, for `log-filter`. Must not know who reads it.

/// The finished request: WIT `log-filter.entry`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// What the client was sent; 0 if it went away before a response began.
    pub status: u16,
    /// From the first byte of the request to the last of the response, in microseconds.
    pub duration_us: u64,
    /// Bytes of the request's body that arrived.
    pub request_bytes: u64,
    /// Bytes of the response's body that were sent.
    pub response_bytes: u64,
    /// Name of the upstream, where one was asked.
    pub upstream: Option<String>,
    /// Address and port of the last peer that was tried.
    pub peer: Option<String>,
    /// Name of the plugin that answered or failed the request.
    pub decided_by: Option<String>,
    /// Why the proxy made the response, as in the access log's `error`.
    pub error: Option<String>,
}
