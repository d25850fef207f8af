//! Connections to an origin: the name is looked up, and each address is judged before it is connected to. Must not
//! know HTTP.

use std::future::Future;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::config::model::{HttpOrigin, PeerHost};
use crate::config::reach;

/// For one address: the next one has its chance within the time of a call.
const CONNECT: Duration = Duration::from_millis(300);

/// Looks names up for plugins, on whichever runtime asks.
pub trait Names: Send + Sync {
    /// The addresses of a name; none where it has none, or nobody says.
    fn addresses<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = Vec<IpAddr>> + Send + 'a>>;
}

/// What plugins are surrounded by.
pub struct Surroundings {
    pub names: Box<dyn Names>,
    /// Where the proxy itself listens: plugins can't call it.
    pub own: Vec<SocketAddr>,
}

impl Default for Surroundings {
    /// No name is known.
    fn default() -> Self {
        Self { names: Box::new(NoNames), own: Vec::new() }
    }
}

struct NoNames;

impl Names for NoNames {
    fn addresses<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = Vec<IpAddr>> + Send + 'a>> {
        Box::pin(async { Vec::new() })
    }
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("own", &self.own).finish_non_exhaustive()
    }
}

/// Where an origin is.
#[derive(Debug)]
pub(super) struct Target {
    host: PeerHost,
    port: u16,
    private: bool,
    surroundings: Arc<Surroundings>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotConnect {
    #[error("the name has no address")]
    NoAddress,
    #[error("plugins may not reach the address")]
    Refused,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Target {
    pub(super) fn new(origin: &HttpOrigin, surroundings: &Arc<Surroundings>) -> Self {
        Self {
            host: origin.host.clone(),
            port: origin.port,
            private: origin.private,
            surroundings: Arc::clone(surroundings),
        }
    }

    async fn connect(&self) -> Result<TcpStream, CannotConnect> {
        let addresses = match &self.host {
            PeerHost::Ip(ip) => vec![*ip],
            PeerHost::Name(name) => self.surroundings.names.addresses(name).await,
        };
        let mut failure = CannotConnect::NoAddress;
        for ip in addresses {
            let address = SocketAddr::new(ip, self.port);
            if !self.may_reach(address) {
                failure = CannotConnect::Refused;
                continue;
            }
            match tokio::time::timeout(CONNECT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Ok(Err(error)) => failure = error.into(),
                Err(_) => failure = std::io::Error::from(std::io::ErrorKind::TimedOut).into(),
            }
        }
        Err(failure)
    }

    fn may_reach(&self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        let may = if self.private {
            // A name may be made to stand for anything; the address itself was granted by someone who meant it.
            let meant = matches!(self.host, PeerHost::Ip(_));
            reach::is_of_one_host(ip) && (meant || !reach::is_link_local(ip))
        } else {
            reach::is_public(ip)
        };
        may && !self.surroundings.own.iter().any(|own| is_same_end(*own, ip, address.port()))
    }
}

/// Whether a connection to this address comes out at `own`.
fn is_same_end(own: SocketAddr, ip: IpAddr, port: u16) -> bool {
    own.port() == port
        && (own.ip().to_canonical() == ip || own.ip().is_unspecified() && is_of_this_machine(ip))
}

/// Only its own addresses can be bound.
fn is_of_this_machine(ip: IpAddr) -> bool {
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// Connects to its target, whatever the URI: one client is for one origin.
#[derive(Debug, Clone)]
pub(super) struct Connector(pub(super) Arc<Target>);

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = CannotConnect;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let target = Arc::clone(&self.0);
        Box::pin(async move { target.connect().await.map(TokioIo::new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::Scheme;

    #[test]
    fn p26_addresses_are_judged_as_they_are_used() {
        fn check(host: &str, private: bool, address: &str, expected: bool) {
            let host = match host.parse() {
                Ok(ip) => PeerHost::Ip(ip),
                Err(_) => PeerHost::Name(host.into()),
            };
            let own =
                ["127.0.0.1:9901", "0.0.0.0:8080", "[::]:8443"].map(|own| own.parse().expect("an address"));
            let surroundings = Arc::new(Surroundings { own: own.to_vec(), ..Surroundings::default() });
            let origin = HttpOrigin { scheme: Scheme::Http, host, port: 80, private, ca: None };
            let may = Target::new(&origin, &surroundings).may_reach(address.parse().expect("an address"));
            assert_eq!(may, expected, "{origin:?} to {address}");
        }
        check("a.test", false, "1.1.1.1:80", true);
        for private in
            ["127.0.0.1:80", "169.254.169.254:80", "10.0.0.1:80", "[::ffff:127.0.0.1]:80", "[fd00::1]:80"]
        {
            check("a.test", false, private, false);
        }
        check("a.test", true, "10.0.0.1:80", true);
        check("a.test", true, "127.0.0.1:80", true);
        check("a.test", true, "169.254.169.254:80", false);
        check("a.test", true, "[::ffff:169.254.169.254]:80", false);
        check("169.254.169.254", true, "169.254.169.254:80", true);
        check("a.test", true, "0.0.0.0:80", false);
        check("a.test", true, "224.0.0.1:80", false);
        for own in
            ["127.0.0.1:9901", "[::ffff:127.0.0.1]:9901", "127.0.0.1:8080", "[::1]:8443", "127.0.0.1:8443"]
        {
            check("a.test", true, own, false);
            check("127.0.0.1", true, own, false);
        }
        check("127.0.0.1", true, "127.0.0.2:9901", true);
    }
}
