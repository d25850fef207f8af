//! Choosing one peer of those that there are. Knows nothing of names and of how peers are found.

mod least_busy;
mod ring;
mod schedule;
mod tier;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::config::model::{Balance, HashKey, Upstream as Settings};

use super::gate::{Gate, Place};
use super::{Hold, NoPeer, Peer};

use tier::Tier;

/// The peers of an upstream at one moment.
#[derive(Debug)]
pub(super) struct PeerSet {
    /// By rank.
    pub(super) peers: Vec<Peer>,
    /// Why there is none, where there is none.
    pub(super) absence: NoPeer,
    /// The same peers, the best rank first.
    tiers: Vec<Tier>,
    /// Addresses that were left out: they are the proxy's own.
    pub(super) own: Vec<SocketAddr>,
}

/// What is known of the request that a peer is chosen for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// Requests with one key go to one peer; `None`: to any. Only read where the upstream hashes.
    pub key: Option<&'a [u8]>,
    /// Peers that the request need not try again.
    pub tried: &'a [Peer],
}

/// How one of them is chosen, and whose turn it is. One for all worker threads.
#[derive(Debug)]
pub(super) struct Balancer {
    balance: Balance,
    slow_start: Duration,
    /// In percent.
    panic_threshold: usize,
    turn: AtomicUsize,
    gate: Gate,
}

impl PeerSet {
    /// `peers` come by rank.
    pub(super) fn new(peers: Vec<Peer>, absence: NoPeer, balance: &Balance) -> Self {
        let tiers = Tier::all(&peers, balance);
        Self { peers, absence, tiers, own: Vec::new() }
    }
}

impl Balancer {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            balance: settings.balance.clone(),
            slow_start: settings.slow_start,
            panic_threshold: usize::from(settings.panic_threshold),
            turn: AtomicUsize::new(0),
            gate: Gate::of(&settings.limits),
        }
    }

    /// `None` where nothing is limited.
    pub(super) fn gate(&self) -> Option<&Gate> {
        Some(&self.gate).filter(|gate| gate.limits_something())
    }

    /// How many requests were refused for the limits.
    pub(super) fn refused(&self) -> u64 {
        self.gate.refused()
    }

    /// Counts on where the one of an earlier generation is.
    pub(super) fn inherit(&mut self, earlier: &Balancer) {
        self.gate.inherit(&earlier.gate);
    }

    /// What a request's key is, where keys are read.
    pub(super) fn hash_key(&self) -> Option<&HashKey> {
        match &self.balance {
            Balance::Hash(key) => Some(key),
            _ => None,
        }
    }

    /// The next peer that was not tried, of the best rank that has a healthy one. Those that are left out come last.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn pick(&self, set: &PeerSet, ask: &Ask<'_>) -> Result<Hold, NoPeer> {
        let Some(first) = set.tiers.first() else { return Err(set.absence) };
        let mut room = match self.gate() {
            None => Room { place: None, most: usize::MAX },
            Some(gate) => {
                Room { place: Some(gate.enter().ok_or(NoPeer::Full)?), most: gate.max_connections() }
            }
        };
        // A second attempt takes nobody's turn: else each request would begin with the peer that fails.
        let turns = self.balance == Balance::RoundRobin && ask.tried.is_empty();
        let turn = turns.then(|| self.next_turn());
        if set.tiers.len() == 1 {
            return self.pick_of(first, turn, ask, &mut room, Resort::Out);
        }
        for resort in [Resort::Warm, Resort::Cold, Resort::Out] {
            for tier in &set.tiers {
                match self.pick_of(tier, turn, ask, &mut room, resort) {
                    Err(NoPeer::AllTried) => {}
                    // Those that are only busy are worth waiting for.
                    done => return done,
                }
            }
        }
        Err(NoPeer::AllTried)
    }

    fn pick_of(
        &self,
        tier: &Tier,
        turn: Option<usize>,
        ask: &Ask<'_>,
        room: &mut Room,
        resort: Resort,
    ) -> Result<Hold, NoPeer> {
        let start = match (&self.balance, ask.key) {
            (Balance::LeastRequests, _) => self.least_busy(tier, ask, resort),
            (Balance::Hash(_), Some(key)) => {
                return self.walk(tier, tier.ring.from(ring::point(key)), ask, room, resort);
            }
            (Balance::Random | Balance::Hash(_) | Balance::RoundRobin, _) => {
                turn.map_or_else(|| tier.random(), |turn| tier.at(turn))
            }
        };
        // The usual case: the first one is fine.
        if let Some(peer) = tier.peers.get(start)
            && ask.tried.is_empty()
            && self.slow_start.is_zero()
            && peer.state().admits()
            && let Some(hold) = room.hold(peer)
        {
            return Ok(hold);
        }
        self.walk(tier, (start..tier.peers.len()).chain(0..start), ask, room, resort)
    }

    /// The first of these places whose peer fits; a place may come several times.
    fn walk(
        &self,
        tier: &Tier,
        places: impl Iterator<Item = usize>,
        ask: &Ask<'_>,
        room: &mut Room,
        resort: Resort,
    ) -> Result<Hold, NoPeer> {
        let mut panics = None;
        let (mut cold, mut out) = (None, None);
        let mut none = NoPeer::AllTried;
        for peer in places.filter_map(|place| tier.peers.get(place)) {
            if ask.tried.iter().any(|tried| tried.is(peer)) {
                continue;
            }
            if peer.state().is_out()
                && !*panics.get_or_insert_with(|| self.panics(tier, resort))
                && !peer.state().admits()
            {
                out = out.or(Some(peer));
            } else if !self.is_warm(peer) {
                cold = cold.or(Some(peer));
            } else if let Some(hold) = room.hold(peer) {
                return Ok(hold);
            } else {
                none = NoPeer::Full;
            }
        }
        // Better a peer that is left out than none; but what healthy ones have no room for is not put on it.
        let last = match resort {
            _ if none == NoPeer::Full => cold,
            Resort::Warm => None,
            Resort::Cold => cold,
            Resort::Out => cold.or(out),
        };
        match last.map(|peer| room.hold(peer)) {
            Some(Some(hold)) => Ok(hold),
            Some(None) => Err(NoPeer::Full),
            None => Err(none),
        }
    }

    // Only spreads requests: no order between threads is needed.
    fn next_turn(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether so few are healthy that health is not looked at. Where none is, another rank may have some.
    fn panics(&self, tier: &Tier, resort: Resort) -> bool {
        match tier.healthy() {
            0 => resort == Resort::Out,
            healthy => healthy * 100 < self.panic_threshold * tier.peers.len(),
        }
    }

    /// Whether a peer that came back takes this request: the longer ago, the more of them.
    fn is_warm(&self, peer: &Peer) -> bool {
        if self.slow_start.is_zero() {
            return true;
        }
        let warmth = peer.state().warmth(self.slow_start);
        warmth >= 1.0 || fastrand::f32() < warmth
    }
}

/// Which peers of a rank are good enough before those of the next one are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resort {
    /// Healthy ones that take this request.
    Warm,
    /// And those that came back a moment ago and have had their share.
    Cold,
    /// And those that are left out.
    Out,
}

/// What limits the choice of a request: its place at the upstream, and how many requests a peer may have.
struct Room {
    place: Option<Place>,
    most: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.leave();
        }
    }
}

impl Room {
    /// The request's stay at a peer, where that has room.
    fn hold(&mut self, peer: &Peer) -> Option<Hold> {
        Hold::of(peer, &mut self.place, self.most)
    }
}

#[cfg(test)]
mod tests;
