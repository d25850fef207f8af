//! What is known of a client's TLS.

/// A connection that came over TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsInfo {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The name that the client asked for in its handshake (SNI), if any. The host of the request may be
    /// another one.
    pub server_name: Option<String>,
    /// The client's certificate (X.509, in DER), which the proxy checked; `None` where the client showed none
    /// or wasn't asked.
    pub client_certificate: Option<Vec<u8>>,
    /// The subject of that certificate (`CN=alice, O=Example`).
    pub client_subject: Option<String>,
}
