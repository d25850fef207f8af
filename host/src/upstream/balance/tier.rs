//! The peers of one rank, and whose turn it is among them. Knows nothing of why one is chosen.

use crate::config::model::Balance;
use crate::upstream::Peer;

use super::ring::Ring;
use super::schedule::schedule;

/// Peers that stand beside each other: a rank below theirs is for when none of them is healthy.
#[derive(Debug)]
pub(super) struct Tier {
    pub(super) peers: Vec<Peer>,
    /// Places of peers in the order of their turns. Empty where weights are equal: that is the order of the list.
    turns: Vec<u32>,
    /// Empty where nothing is hashed.
    pub(super) ring: Ring,
}

impl Tier {
    /// The tiers of peers that are sorted by rank.
    pub(super) fn all(peers: &[Peer], balance: &Balance) -> Vec<Self> {
        peers.chunk_by(|a, b| a.rank() == b.rank()).map(|peers| Self::new(peers, balance)).collect()
    }

    fn new(peers: &[Peer], balance: &Balance) -> Self {
        let weights: Vec<u16> = peers.iter().map(Peer::weight).collect();
        let equal = weights.windows(2).all(|pair| pair.first() == pair.last());
        let turns = if equal { Vec::new() } else { schedule(&weights) };
        let ring = match balance {
            Balance::Hash(_) => Ring::of(peers.iter().map(|peer| (peer.endpoint(), peer.weight()))),
            _ => Ring::default(),
        };
        Self { peers: peers.to_vec(), turns, ring }
    }

    /// The place whose turn it is, for any number.
    pub(super) fn at(&self, turn: usize) -> usize {
        match self.turns.len() {
            0 => turn % self.peers.len().max(1),
            turns => self.turns.get(turn % turns).map_or(0, |place| *place as usize),
        }
    }

    pub(super) fn random(&self) -> usize {
        self.at(fastrand::usize(..self.turns.len().max(self.peers.len()).max(1)))
    }

    /// How many of them are not left out.
    pub(super) fn healthy(&self) -> usize {
        self.peers.iter().filter(|peer| !peer.state().is_out()).count()
    }
}
