//! One end of an upstream, ready to be connected to. The only file that makes Pingora's peers: from addresses,
//! never from names, and with every time-out set. Knows nothing of how a peer is chosen.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use http::HeaderValue;
use pingora::upstreams::peer::{HttpPeer, PeerOptions};
use rustix::net::sockopt::set_tcp_user_timeout;

use crate::config::model::{Ejection, Upstream as Settings};

use super::Endpoint;
use super::speech::Speech;
use super::state::PeerState;

/// An end that an upstream's configuration stands for at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) endpoint: Endpoint,
    pub(super) weight: u16,
    /// Zero for those that are asked first; the others are spares.
    pub(super) rank: u16,
    /// Who it has to prove to be; empty in the clear.
    pub(super) server_name: Arc<str>,
    /// What it is called in the configuration, as a `Host`; nothing for a Unix socket.
    pub(super) host: Option<HeaderValue>,
}

/// A peer of an upstream. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Peer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    weight: u16,
    rank: u16,
    /// Who it has to prove to be; empty in the clear.
    server_name: Arc<str>,
    host: Option<HeaderValue>,
    ejection: Ejection,
    keeps_apart: bool,
    /// Everything but what a request changes.
    template: HttpPeer,
    /// Outlives the peer where a later configuration has the same.
    state: Arc<PeerState>,
}

impl Peer {
    pub(super) fn new(found: Found, settings: &Settings, speech: &Speech, state: Arc<PeerState>) -> Self {
        let Found { endpoint, weight, rank, server_name, host } = found;
        let mut template = template(&endpoint, settings);
        speech.teach(&mut template, &server_name);
        let ejection = settings.ejection;
        let keeps_apart =
            template.options.alpn.get_max_http_version() == 1 && settings.limits.max_connections.is_none();
        let inner =
            Inner { endpoint, weight, rank, server_name, host, ejection, keeps_apart, template, state };
        Self(Arc::new(inner))
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    /// What it is called in the configuration, as a `Host`; nothing for a Unix socket.
    pub fn host(&self) -> Option<&HeaderValue> {
        self.0.host.as_ref()
    }

    /// Whether it is what was found, also where its share of the requests is another one.
    pub(super) fn is_at(&self, found: &Found) -> bool {
        self.0.endpoint == found.endpoint && self.0.server_name == found.server_name
    }

    /// Whether it is just what was found.
    pub(super) fn is_same(&self, found: &Found) -> bool {
        self.is_at(found) && self.0.weight == found.weight && self.0.rank == found.rank
    }

    /// Zero for those that are asked first; the others are for when none of those before them is healthy.
    pub(super) fn rank(&self) -> u16 {
        self.0.rank
    }

    /// Its share of the requests, relative to the others.
    pub fn weight(&self) -> u16 {
        self.0.weight
    }

    pub(super) fn state(&self) -> &Arc<PeerState> {
        &self.0.state
    }

    pub(super) fn ejection(&self) -> &Ejection {
        &self.0.ejection
    }

    /// What Pingora connects to: a copy for one request.
    pub fn http_peer(&self) -> Box<HttpPeer> {
        Box::new(self.0.template.clone())
    }

    /// Has the request wait for so long until the peer takes something, on connections of its own: the others have
    /// their limit from where they were made.
    pub fn write_within(peer: &mut HttpPeer, limit: Duration) {
        peer.options.write_timeout = Some(limit);
        peer.group_key ^= u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        write_within(&mut peer.options, limit);
    }

    /// Whether each worker has connections to it of its own. One that another worker made is woken by that one, and its
    /// answers come by way of two threads. Connections of HTTP/2 carry many requests and are shared; so are those that
    /// there may be no more than a certain number of.
    pub fn keeps_apart(&self) -> bool {
        self.0.keeps_apart
    }

    /// Requests that are on their way to it.
    pub fn in_flight(&self) -> usize {
        self.0.state.in_flight.load(Relaxed)
    }

    /// Whether both are the same peer of the same upstream.
    pub(super) fn is(&self, other: &Peer) -> bool {
        Arc::ptr_eq(&self.0.state, &other.0.state)
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the file that makes peers, from addresses alone")]
fn template(endpoint: &Endpoint, settings: &Settings) -> HttpPeer {
    let mut template = match endpoint {
        Endpoint::Tcp(address) => HttpPeer::new(*address, false, String::new()),
        Endpoint::Unix(path) => {
            let unspecified = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
            HttpPeer::new_uds(&path.to_string_lossy(), false, String::new())
                // Only for a path that is too long or has a NUL, which the configuration refuses.
                .unwrap_or_else(|_| HttpPeer::new(unspecified, false, String::new()))
        }
    };
    let (options, timeouts) = (&mut template.options, &settings.timeouts);
    options.connection_timeout = Some(timeouts.connect);
    options.total_connection_timeout = Some(timeouts.connect);
    options.read_timeout = Some(timeouts.read);
    options.write_timeout = Some(timeouts.write);
    options.idle_timeout = Some(timeouts.idle);
    write_within(options, timeouts.write);
    template
}

/// Has a connection end that takes nothing for so long. Pingora stops sending by itself, and then waits for a response
/// for as long as for any other.
#[allow(clippy::disallowed_types, reason = "the type of Pingora's hook")]
fn write_within(options: &mut PeerOptions, limit: Duration) {
    let millis = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
    options.upstream_tcp_sock_tweak_hook = Some(Arc::new(move |socket| {
        // Where the system has no such limit, that of the response remains.
        let _ = set_tcp_user_timeout(socket, millis);
        Ok(())
    }));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pingora::upstreams::peer::Peer as _;

    use crate::upstream::set::tests::settings;

    use super::*;

    fn http_peer(endpoint: Endpoint, settings: &Settings) -> Box<HttpPeer> {
        let found = Found { endpoint, weight: 1, rank: 0, server_name: "".into(), host: None };
        Peer::new(found, settings, &Speech::of(settings), Arc::default()).http_peer()
    }

    #[test]
    fn every_timeout_is_set() {
        let seconds = Duration::from_secs;
        let mut settings = settings("main", &[]);
        settings.timeouts = crate::config::model::Timeouts {
            connect: seconds(1),
            read: seconds(2),
            write: seconds(3),
            idle: seconds(4),
            total: seconds(5),
        };
        let peer = http_peer(Endpoint::Tcp("127.0.0.1:80".parse().unwrap()), &settings);
        assert_eq!(peer.connection_timeout(), Some(seconds(1)));
        assert_eq!(peer.total_connection_timeout(), Some(seconds(1)));
        assert_eq!(peer.options.read_timeout, Some(seconds(2)));
        assert_eq!(peer.options.write_timeout, Some(seconds(3)));
        assert_eq!(peer.idle_timeout(), Some(seconds(4)));
        assert_eq!(peer.address().to_string(), "127.0.0.1:80");
        assert!(!peer.is_tls());
    }

    #[test]
    fn a_unix_socket_is_an_end_like_any_other() {
        let path: Arc<std::path::Path> = std::path::Path::new("/run/app.sock").into();
        let peer = http_peer(Endpoint::Unix(path), &settings("main", &[]));
        assert_eq!(peer.address().to_string(), "/run/app.sock");
        assert!(peer.idle_timeout().is_some());
    }
}
