//! Why the proxy refused a change: one type per WIT error, and nothing has changed where one is returned.
//! Must not know how the proxy is reached.

use thiserror::Error;

/// Why a header was not changed: WIT `types.header-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// The name is empty, longer than 256 bytes or not a token (RFC 9110, section 5.6.2).
    #[error("the header's name is not a token of 1 to 256 bytes")]
    InvalidName,
    /// The value holds NUL, CR or LF.
    #[error("the header's value holds NUL, CR or LF")]
    InvalidValue,
    /// The proxy keeps this field true: `connection`, `content-length`, `host`, `keep-alive`,
    /// `proxy-connection`, `te`, `trailer`, `transfer-encoding`, `upgrade`, and names that start with `:`.
    #[error("the header belongs to the proxy")]
    HostOwned,
    /// The value is over 16 KiB, the head would be over 64 KiB, or it would have more than 128 lines.
    #[error("the header or the whole head would be too large")]
    TooLarge,
    /// The head can't be changed in this phase.
    #[error("the head can't be changed in this phase")]
    WrongPhase,
}

/// Why method, authority, path or query were not changed: WIT `types.target-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TargetError {
    /// Not a method, authority, path or query in the sense of RFC 9110 and RFC 3986, or over 16 KiB.
    #[error("not a valid method, authority, path or query of at most 16 KiB")]
    Invalid,
    /// The request was sent already, or is over.
    #[error("the request can't be changed in this phase")]
    WrongPhase,
}

/// Why an attribute was not set: WIT `types.attribute-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AttributeError {
    /// The key is not 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    #[error("the attribute's key is not 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`")]
    InvalidKey,
    /// The value is over 8 KiB, or the request has 64 attributes already.
    #[error("the attribute's value is over 8 KiB, or the request has 64 attributes already")]
    TooLarge,
}

/// Why the upstream was not chosen: WIT `request.upstream-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UpstreamError {
    /// The configuration has no upstream of that name.
    #[error("the configuration has no upstream of that name")]
    Unknown,
    /// A peer was chosen already, or the request is over.
    #[error("a peer was chosen already")]
    WrongPhase,
}

/// Why the hash key was not set: WIT `request.hash-key-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HashKeyError {
    /// The key is over 8 KiB.
    #[error("the key is over 8 KiB")]
    TooLarge,
    /// A peer was chosen already, or the request is over.
    #[error("a peer was chosen already")]
    WrongPhase,
}

/// Why the status was not changed: WIT `response.status-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StatusError {
    /// Not in 200 to 599, or the response is an upgrade (101).
    #[error("not a status of 200 to 599, or the response is an upgrade")]
    Invalid,
    /// There is no response yet, or it was sent.
    #[error("there is no response that could be changed")]
    WrongPhase,
}

/// Why nothing was written: WIT `kv.kv-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KvError {
    /// The key is empty or over 256 bytes.
    #[error("the key is empty or over 256 bytes")]
    InvalidKey,
    /// The value is over 64 KiB.
    #[error("the value is over 64 KiB")]
    TooLarge,
    /// The time to live is 0, or over 365 days.
    #[error("the time to live is 0 or over 365 days")]
    InvalidTtl,
    /// All entries together have as many bytes as `limits.kv` of the manifest says.
    #[error("there is no room: `limits.kv` of the manifest is reached")]
    Full,
    /// The value is not a decimal number of 64 bits, or the sum would not be.
    #[error("not a decimal number of 64 bits")]
    NotANumber,
}

/// Why nothing was counted: WIT `counter.counter-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CounterError {
    /// The key is empty or over 256 bytes.
    #[error("the key is empty or over 256 bytes")]
    InvalidKey,
    /// The span is not 100 ms to 30 days.
    #[error("the span is not 100 ms to 30 days")]
    InvalidRule,
    /// There are as many keys as `limits.counters` of the manifest says.
    #[error("there is no room for another key: `limits.counters` of the manifest is reached")]
    Full,
}

/// Why nothing was defined or counted: WIT `metrics.metric-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MetricError {
    /// The name is not 1 to 64 of `a-z`, `0-9` and `_` with a letter first, or has an ending that the proxy makes.
    #[error("not the name of a metric, or one that ends as the proxy's own do")]
    InvalidName,
    /// A label is not named by the same rules, or is there twice; there are more than 8; or a value is over 128 bytes.
    #[error("a label's name is not one or is taken, there are more than 8, or a value is over 128 bytes")]
    InvalidLabel,
    /// Bounds are not finite and ascending, or more than 32; or the value is not finite, or a counter would shrink.
    #[error("a value or bound is not finite or out of order")]
    InvalidValue,
    /// The name is taken by a metric of another kind or with other labels.
    #[error("the name is taken by a metric of another kind or with other labels")]
    Conflict,
    /// There are as many metrics or series as there may be.
    #[error(
        "there is no room for another metric or series: `limits.series` of the manifest, or what a scrape may write, is reached"
    )]
    TooMany,
    /// There is no such metric, or it has another kind or another number of labels.
    #[error("no such metric, of this kind and with this number of labels")]
    Unknown,
}

/// Why there is no answer: WIT `http-client.http-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HttpError {
    /// There is no request: `configure` can't call.
    #[error("there is no request to call for")]
    WrongPhase,
    /// Method, URL, a header line or the size of the body is out of bounds.
    #[error("method, URL, header or body of the call is out of bounds")]
    InvalidCall,
    /// The origin of the URL is not granted.
    #[error("the manifest does not grant this origin: `grants.http`")]
    NotGranted,
    /// The address is private, link-local, the proxy's machine or the proxy itself.
    #[error("the origin has an address that plugins may not reach")]
    RefusedAddress,
    /// The plugin has called as often for this request as `limits.http-calls` of the manifest says.
    #[error("too many calls for one request: `limits.http-calls` of the manifest is reached")]
    TooMany,
    /// The time was over.
    #[error("the time of the call was over")]
    TimedOut,
    /// The name has no address, or there is no connection, or it broke.
    #[error("the origin could not be reached")]
    Unreachable,
    /// The certificate is not good for the name, or the handshake failed.
    #[error("the TLS handshake failed")]
    Tls,
    /// What came is not HTTP/1.1, or its head is over 64 KiB.
    #[error("the answer is not HTTP/1.1")]
    InvalidAnswer,
    /// The body is larger than `limits.http-answer` of the manifest says.
    #[error("the answer is larger than `limits.http-answer` of the manifest")]
    TooLarge,
}
