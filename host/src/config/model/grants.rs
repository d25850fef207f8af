//! What a plugin may import beyond its own request.

/// `grants` of a manifest, each with its limit. All nothing where there is no manifest: what is not granted can't
/// be imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Bytes that may be kept in `kv`.
    pub kv: Option<usize>,
    /// Keys that `counter` may have at once.
    pub counter: Option<usize>,
}
