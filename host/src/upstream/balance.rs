//! Choosing one peer of those that there are. Knows nothing of names and of how peers are found.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{NoPeer, Peer};

/// The peers of an upstream at one moment.
#[derive(Debug)]
pub(super) struct PeerSet {
    pub(super) peers: Vec<Peer>,
    /// Why there is none, where there is none.
    pub(super) absence: NoPeer,
}

/// Whose turn it is. One for all worker threads.
#[derive(Debug, Default)]
pub(super) struct RoundRobin(AtomicUsize);

impl RoundRobin {
    /// The next peer in turn that was not tried. Peers that failed a short while ago come last.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn pick(&self, set: &PeerSet, tried: &[SocketAddr]) -> Result<Peer, NoPeer> {
        let peers = set.peers.as_slice();
        if peers.is_empty() {
            return Err(set.absence);
        }
        // Only spreads requests: no order between threads is needed.
        let turn = self.0.fetch_add(1, Ordering::Relaxed) % peers.len();
        let (later, first) = peers.split_at_checked(turn).unwrap_or_default();
        let mut avoided = None;
        for peer in first.iter().chain(later).filter(|peer| !tried.contains(&peer.address)) {
            if !peer.is_avoided() {
                return Ok(peer.clone());
            }
            avoided = avoided.or(Some(peer));
        }
        avoided.cloned().ok_or(NoPeer::AllTried)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::config::model::Timeouts;

    use super::*;

    fn peers(ports: &[u16]) -> PeerSet {
        let second = Duration::from_secs(1);
        let timeouts = Timeouts { connect: second, read: second, write: second, idle: second };
        let peers = ports.iter().map(|port| Peer::new(address(*port), &timeouts)).collect();
        PeerSet { peers, absence: NoPeer::NoSuchName }
    }

    fn address(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    /// What five picks in a row give.
    fn check(set: &PeerSet, tried: &[u16], expected: [Result<u16, NoPeer>; 5]) {
        let tried: Vec<_> = tried.iter().map(|port| address(*port)).collect();
        let turns = RoundRobin::default();
        let seen = [(); 5].map(|()| turns.pick(set, &tried).map(|peer| peer.address.port()));
        assert_eq!(seen, expected);
    }

    #[test]
    fn in_turn_without_the_tried() {
        check(&peers(&[1, 2, 3]), &[], [Ok(1), Ok(2), Ok(3), Ok(1), Ok(2)]);
        check(&peers(&[1, 2, 3]), &[1], [Ok(2), Ok(2), Ok(3), Ok(2), Ok(2)]);
        check(&peers(&[1, 2]), &[2, 9], [Ok(1); 5]);
        check(&peers(&[1, 2]), &[1, 2], [Err(NoPeer::AllTried); 5]);
        check(&peers(&[]), &[1], [Err(NoPeer::NoSuchName); 5]);
    }

    #[test]
    fn a_peer_that_failed_is_passed_over_while_there_are_others() {
        let set = peers(&[1, 2, 3]);
        set.peers[1].connect_failed();
        check(&set, &[], [Ok(1), Ok(3), Ok(3), Ok(1), Ok(3)]);
        check(&set, &[1, 3], [Ok(2); 5]);
        set.peers[0].connect_failed();
        set.peers[2].connect_failed();
        check(&set, &[], [Ok(1), Ok(2), Ok(3), Ok(1), Ok(2)]);
    }
}
