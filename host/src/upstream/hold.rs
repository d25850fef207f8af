//! A request's stay at a peer: counted from the choice of the peer until the request lets go of it, also where the
//! request is dropped in its middle. Tells the peer's state what became of it. Knows no balancing.

use std::fmt;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::gate::Place;
use super::state::Cause;
use super::{Endpoint, Peer, Upstream};

/// A peer that was chosen for a request, which is in flight there for as long as this lives.
pub struct Hold {
    peer: Peer,
    /// Free again behind the peer, so that who waits for it finds room there.
    _place: Option<Place>,
}

impl Hold {
    /// `None` where the peer has as many requests as it may.
    pub(super) fn of(peer: &Peer, place: &mut Option<Place>, most: usize) -> Option<Self> {
        let state = peer.state();
        if most == usize::MAX {
            state.in_flight.fetch_add(1, SeqCst);
        } else {
            let more = |count: usize| (count < most).then(|| count + 1);
            state.in_flight.fetch_update(SeqCst, SeqCst, more).ok()?;
        }
        state.requests.fetch_add(1, Relaxed);
        Some(Self { peer: peer.clone(), _place: place.take() })
    }

    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    pub fn endpoint(&self) -> &Endpoint {
        self.peer.endpoint()
    }

    /// A connection to it failed: nothing was sent.
    pub fn connect_failed(&self, upstream: &Upstream) {
        if self.peer.state().connect_failed(self.peer.ejection()) {
            self.tell(upstream, "connections to it fail");
        }
    }

    /// It answered with this status.
    pub fn answered(&self, upstream: &Upstream, status: u16) {
        if status < 500 { self.peer.state().answered() } else { self.broke(upstream) }
    }

    /// It was silent for too long, broke the connection, or answered with a status of 500 and more.
    pub fn broke(&self, upstream: &Upstream) {
        let (state, rules) = (self.peer.state(), self.peer.ejection());
        if state.server_failed(rules)
            && upstream.may_eject(&self.peer, rules.max_share)
            && state.eject(rules, Cause::ServerErrors)
        {
            self.tell(upstream, "it fails");
        }
    }

    fn tell(&self, upstream: &Upstream, cause: &'static str) {
        let left = self.peer.state().ejected_for().map(|(left, _)| left.as_millis());
        tracing::warn!(
            upstream = %upstream.name(),
            peer = %self.endpoint(),
            cause,
            ms = left,
            "peer is left out for a while"
        );
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.peer.state().in_flight.fetch_sub(1, SeqCst);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({})", self.endpoint())
    }
}
