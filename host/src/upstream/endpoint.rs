//! What a peer is connected to. Knows nothing of how it is treated.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// One end to connect to: resolved, so that nothing is looked up any more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    Tcp(SocketAddr),
    /// A Unix socket; its path is absolute and has no NUL.
    Unix(Arc<Path>),
}

impl Endpoint {
    /// The address, where it is one of IP.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Endpoint::Tcp(address) => Some(*address),
            Endpoint::Unix(_) => None,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address) => address.fmt(f),
            Endpoint::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Endpoint::Tcp(address)
    }
}
