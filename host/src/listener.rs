//! What takes connections: addresses with their protocols and certificates, as a generation has them. Knows no
//! sockets and nothing of requests.

mod tls;

use std::net::SocketAddr;
use std::sync::Arc;

use crate::config::model::{self, ProxyProtocol};

pub use tls::{Broken, Tls, VirtualHost};

/// The listeners of a configuration.
#[derive(Debug, Default)]
pub struct Listeners(Vec<Arc<Listener>>);

/// One address.
#[derive(Debug)]
pub struct Listener {
    pub address: SocketAddr,
    /// HTTP/2 beside HTTP/1.
    pub h2: bool,
    pub proxy_protocol: ProxyProtocol,
    /// Nothing for a listener in the clear.
    pub tls: Option<Tls>,
}

/// A listener that can't be put together.
#[derive(Debug, thiserror::Error)]
#[error("listener `{address}`: {source}")]
pub struct CannotServe {
    pub address: SocketAddr,
    #[source]
    source: Broken,
}

impl Listeners {
    /// # Errors
    /// What TLS a listener is to speak, can't be spoken.
    pub fn build(models: &[model::Listener]) -> Result<Self, CannotServe> {
        let listener = |model: &model::Listener| {
            let tls = model.tls.as_ref().map(|tls| Tls::build(tls, model.h2)).transpose();
            let tls = tls.map_err(|source| CannotServe { address: model.address, source })?;
            Ok(Arc::new(Listener {
                address: model.address,
                h2: model.h2,
                proxy_protocol: model.proxy_protocol,
                tls,
            }))
        };
        models.iter().map(listener).collect::<Result<_, _>>().map(Self)
    }

    /// The one that listens on this address.
    pub fn of(&self, address: SocketAddr) -> Option<&Arc<Listener>> {
        self.0.iter().find(|listener| listener.address == address)
    }

    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.0.iter().map(|listener| listener.address)
    }
}
