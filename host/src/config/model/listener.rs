//! A listener as it is checked: its address, protocols and certificates. Must not know how they are read.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::sign::CertifiedKey;

use super::HostPattern;

/// `[[listeners]]`
#[derive(Debug, Clone)]
pub struct Listener {
    pub address: SocketAddr,
    /// HTTP/2 beside HTTP/1: in the clear with prior knowledge, within TLS by agreement.
    pub h2: bool,
    pub proxy_protocol: ProxyProtocol,
    /// Nothing for a listener in the clear.
    pub tls: Option<Tls>,
}

/// Whether connections begin with the word of a trusted balancer on who the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyProtocol {
    Off,
    /// From trusted peers it may come, from others it is no HTTP.
    Optional,
    /// Connections without it, and those of others, are closed.
    Required,
}

/// What a listener needs for TLS.
#[derive(Debug, Clone)]
pub struct Tls {
    /// At least one; the first is for clients that ask for no name, or for one that none stands for.
    pub identities: Vec<Identity>,
    pub min_version: TlsVersion,
}

/// A certificate with its key, which belong together.
#[derive(Debug, Clone)]
pub struct Identity {
    pub certified: Arc<CertifiedKey>,
    /// Names that a client may ask for. A wildcard stands for one label, as in certificates.
    pub names: Vec<HostPattern>,
    /// Whose clients may come; nothing where clients show no certificate.
    pub client_auth: Option<ClientAuth>,
    /// What all of it was read from.
    pub files: Vec<PathBuf>,
}

/// Certificates of clients.
#[derive(Debug, Clone)]
pub struct ClientAuth {
    /// Who may have signed them.
    pub roots: Arc<RootCertStore>,
    pub mode: ClientAuthMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuthMode {
    /// Clients without a certificate are refused.
    Required,
    /// Clients without a certificate come in as well; with a wrong one, they don't.
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    Tls12,
    Tls13,
}
