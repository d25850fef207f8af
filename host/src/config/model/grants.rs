//! What a plugin may import beyond its own request.

use std::path::PathBuf;

use bytes::Bytes;

use super::PeerHost;

/// `grants` of a manifest, each with its limit. All nothing where there is no manifest: what is not granted can't
/// be imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Bytes that may be kept in `kv`.
    pub kv: Option<usize>,
    /// Keys that `counter` may have at once.
    pub counter: Option<usize>,
    /// Series that `metrics` may have.
    pub metrics: Option<usize>,
    pub http: Option<HttpGrant>,
    /// Variables of the environment that it may read.
    pub env: Vec<String>,
    /// Files that it may read.
    pub files: Vec<GrantedFile>,
}

/// One entry of `grants.files`, read when the manifest is: what a plugin sees of it changes with the generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedFile {
    /// As the manifest has it: a path relative to the manifest, without `.` and `..`.
    pub name: String,
    pub path: PathBuf,
    pub content: Bytes,
}

/// Whom a plugin may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpGrant {
    pub origins: Vec<HttpOrigin>,
    /// Calls that it may make for one request.
    pub calls: usize,
    /// Bytes of one answer's body.
    pub answer: usize,
}

/// One entry of `grants.http`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOrigin {
    pub scheme: Scheme,
    pub host: PeerHost,
    pub port: u16,
    /// Whether it may be in a private network or on this machine.
    pub private: bool,
    /// Whose certificates are believed, in place of the system's.
    pub ca: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}
