//! What operators are shown of a peer. A snapshot: knows how to read a state, not how to change it.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::Peer;
use super::state::Cause;

/// How a peer stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerStatus {
    /// `10.0.0.7:80`, `[::1]:80` or `unix:/run/app.sock`.
    pub address: String,
    pub weight: u16,
    /// Whether requests go to it.
    pub healthy: bool,
    /// Why not: a word.
    pub reason: Option<&'static str>,
    /// For how long it is left out yet; an ejection that is over ends with the next request.
    pub ejected_for: Option<Duration>,
    /// Requests that are on their way.
    pub in_flight: usize,
    /// Since it is a peer.
    pub requests: u64,
    /// Connections that failed, responses of 500 and more, and those that did not come or broke.
    pub failures: u64,
    /// How often it was left out.
    pub ejections: u64,
}

impl Peer {
    pub fn status(&self) -> PeerStatus {
        let state = self.state();
        let ejected = state.ejected_for();
        let reason = match (state.is_checked_up(), ejected) {
            (Some(false), _) => Some("check-failed"),
            (_, Some((_, Cause::ConnectFailures))) => Some("connect-failures"),
            (_, Some((_, Cause::ServerErrors))) => Some("server-errors"),
            _ => None,
        };
        PeerStatus {
            address: self.endpoint().to_string(),
            weight: self.weight(),
            healthy: reason.is_none(),
            reason,
            ejected_for: ejected.map(|(left, _)| left),
            in_flight: self.in_flight(),
            requests: state.requests.load(Relaxed),
            failures: state.failures.load(Relaxed),
            ejections: state.ejections.load(Relaxed),
        }
    }
}
