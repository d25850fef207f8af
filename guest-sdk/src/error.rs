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
