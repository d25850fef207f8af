//! One address of an upstream, ready to be connected to. The only file that makes Pingora's peers: from
//! addresses, never from names, and with every time-out set. Knows nothing of how a peer is chosen.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use pingora::upstreams::peer::HttpPeer;

use crate::config::model::Timeouts;

/// After a failed connection, a peer is passed over for this long while there are others. Long enough to
/// spare most requests a failing attempt, short enough to notice a restart.
const AVOIDED: Duration = Duration::from_secs(10);

/// A peer that was picked. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Peer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Everything but what a request changes.
    template: HttpPeer,
    /// Milliseconds since [`START`]; zero if the peer is fine.
    avoided_until: AtomicU64,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Peer {
    #[allow(clippy::disallowed_methods, reason = "this is the file that makes peers, from addresses alone")]
    pub(super) fn new(address: SocketAddr, timeouts: &Timeouts) -> Self {
        let mut template = HttpPeer::new(address, false, String::new());
        let options = &mut template.options;
        options.connection_timeout = Some(timeouts.connect);
        options.total_connection_timeout = Some(timeouts.connect);
        options.read_timeout = Some(timeouts.read);
        options.write_timeout = Some(timeouts.write);
        options.idle_timeout = Some(timeouts.idle);
        Self { address, shared: Arc::new(Shared { template, avoided_until: AtomicU64::new(0) }) }
    }

    /// What Pingora connects to: a copy for one request.
    pub fn http_peer(&self) -> Box<HttpPeer> {
        Box::new(self.shared.template.clone())
    }

    /// Tells that a connection to it failed: it is passed over for a while where there are others.
    pub fn connect_failed(&self) {
        let until = START.elapsed().saturating_add(AVOIDED);
        self.shared.avoided_until.store(millis(until), Ordering::Relaxed);
    }

    /// Whether a connection to it failed a short while ago.
    pub fn is_avoided(&self) -> bool {
        // The clock is read only for a peer that failed.
        match self.shared.avoided_until.load(Ordering::Relaxed) {
            0 => false,
            until if millis(START.elapsed()) < until => true,
            until => {
                // Another failure may have been told meanwhile: that one stays.
                let _ = self.shared.avoided_until.compare_exchange(
                    until,
                    0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                false
            }
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use pingora::upstreams::peer::Peer as _;

    use super::*;

    #[test]
    fn every_timeout_is_set() {
        let seconds = Duration::from_secs;
        let timeouts =
            Timeouts { connect: seconds(1), read: seconds(2), write: seconds(3), idle: seconds(4) };
        let peer = Peer::new("127.0.0.1:80".parse().unwrap(), &timeouts).http_peer();
        assert_eq!(peer.connection_timeout(), Some(seconds(1)));
        assert_eq!(peer.total_connection_timeout(), Some(seconds(1)));
        assert_eq!(peer.options.read_timeout, Some(seconds(2)));
        assert_eq!(peer.options.write_timeout, Some(seconds(3)));
        assert_eq!(peer.idle_timeout(), Some(seconds(4)));
        assert_eq!(peer.address().to_string(), "127.0.0.1:80");
        assert!(!peer.is_tls());
    }
}
