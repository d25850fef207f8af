//! What Pingora asks of a stream beside bytes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pingora::protocols::raw_connect::ProxyDigest;
use pingora::protocols::tls::{SslDigest, TlsRef};
use pingora::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, TimingDigest,
    UniqueID, UniqueIDType,
};

use tokio::io::AsyncWriteExt as _;

use super::{Downstream, Transport};

#[async_trait]
impl Shutdown for Downstream {
    async fn shutdown(&mut self) {
        // An error means that nobody is there to get it.
        let _ = self.transport.flush().await;
        match self.transport.get_mut() {
            Transport::Clear(stream) => Shutdown::shutdown(&mut **stream).await,
            Transport::Tls(stream) => Shutdown::shutdown(&mut **stream).await,
        }
    }
}

impl UniqueID for Downstream {
    fn id(&self) -> UniqueIDType {
        match self.transport.get_ref() {
            Transport::Clear(stream) => stream.id(),
            Transport::Tls(stream) => stream.id(),
        }
    }
}

impl Ssl for Downstream {
    fn get_ssl(&self) -> Option<&TlsRef> {
        match self.transport.get_ref() {
            Transport::Clear(_) => None,
            Transport::Tls(stream) => stream.get_ssl(),
        }
    }

    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        match self.transport.get_ref() {
            Transport::Clear(_) => None,
            Transport::Tls(stream) => stream.get_ssl_digest(),
        }
    }

    fn selected_alpn_proto(&self) -> Option<ALPN> {
        match self.transport.get_ref() {
            Transport::Clear(_) => None,
            Transport::Tls(stream) => stream.selected_alpn_proto(),
        }
    }
}

impl GetTimingDigest for Downstream {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        match self.transport.get_ref() {
            Transport::Clear(stream) => stream.get_timing_digest(),
            Transport::Tls(stream) => stream.get_timing_digest(),
        }
    }

    fn get_read_pending_time(&self) -> Duration {
        Duration::ZERO
    }

    fn get_write_pending_time(&self) -> Duration {
        Duration::ZERO
    }
}

impl GetProxyDigest for Downstream {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        Some(Arc::clone(&self.known))
    }
}

impl GetSocketDigest for Downstream {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        match self.transport.get_ref() {
            Transport::Clear(stream) => stream.get_socket_digest(),
            Transport::Tls(stream) => stream.get_socket_digest(),
        }
    }
}

/// Not supported: what comes first is looked at before Pingora has the stream.
impl Peek for Downstream {}

impl fmt::Debug for Downstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Downstream").field("id", &self.id()).finish_non_exhaustive()
    }
}
