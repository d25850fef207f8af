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

    /// The listener that a connection to this address of the machine came to.
    pub fn at(&self, local: SocketAddr) -> Option<&Arc<Listener>> {
        let ip = local.ip().to_canonical();
        let fits = |listener: &&Arc<Listener>| {
            let own = listener.address;
            own.port() == local.port() && (own.ip().is_unspecified() || own.ip().to_canonical() == ip)
        };
        // An address by itself goes before one that is every address.
        self.0.iter().filter(fits).min_by_key(|listener| listener.address.ip().is_unspecified())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_find_their_listener() {
        let addresses = ["0.0.0.0:80", "127.0.0.1:80", "[::]:81", "10.0.0.1:82"];
        let models: Vec<_> = addresses
            .iter()
            .map(|address| model::Listener {
                address: address.parse().unwrap(),
                h2: false,
                proxy_protocol: ProxyProtocol::Off,
                tls: None,
            })
            .collect();
        let listeners = Listeners::build(&models).unwrap();
        let check = |local: &str, expected: Option<&str>| {
            let found = listeners.at(local.parse().unwrap()).map(|found| found.address.to_string());
            assert_eq!(found.as_deref(), expected, "{local}");
        };
        check("127.0.0.1:80", Some("127.0.0.1:80"));
        check("10.1.1.1:80", Some("0.0.0.0:80"));
        check("[::ffff:127.0.0.1]:81", Some("[::]:81"));
        check("127.0.0.1:82", None);
        check("127.0.0.1:83", None);
    }
}
