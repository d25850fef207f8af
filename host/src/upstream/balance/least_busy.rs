//! The peer that has the fewest requests. Knows nothing of where a request goes that it has no room for.

use crate::upstream::Peer;

use super::tier::Tier;
use super::{Ask, Balancer, Resort};

/// Up to so many peers, all are looked at: a peer that is slow has no more requests waiting than the others then, and
/// the fewest of all for the time that each takes. Of more, two are drawn: a look at each would cost more than it gains.
const LOOKED_AT: usize = 8;

impl Balancer {
    /// The place of the peer with the fewest requests for its weight, of those that a request may go to. Where several
    /// have as few, one that is drawn by weight.
    pub(super) fn least_busy(&self, tier: &Tier, ask: &Ask<'_>, resort: Resort) -> usize {
        let drawn = tier.random();
        if tier.peers.len() > LOOKED_AT {
            let mut other = tier.random();
            if other == drawn {
                other = (drawn + 1) % tier.peers.len();
            }
            return self.first_of_fewest(tier, ask, resort, [drawn, other].into_iter()).unwrap_or(drawn);
        }
        let all = (drawn..tier.peers.len()).chain(0..drawn);
        self.first_of_fewest(tier, ask, resort, all).unwrap_or(drawn)
    }

    fn first_of_fewest(
        &self,
        tier: &Tier,
        ask: &Ask<'_>,
        resort: Resort,
        places: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        let mut panics = None;
        let mut fewest: Option<(usize, f32)> = None;
        for place in places {
            let Some(peer) = tier.peers.get(place) else { continue };
            if ask.tried.iter().any(|tried| tried.is(peer)) {
                continue;
            }
            if peer.state().is_out() && !*panics.get_or_insert_with(|| self.panics(tier, resort)) {
                if peer.state().is_due() {
                    return Some(place);
                }
                continue;
            }
            let load = load(peer);
            if fewest.is_none_or(|(_, fewest)| load < fewest) {
                fewest = Some((place, load));
            }
        }
        fewest.map(|(place, _)| place)
    }
}

fn load(peer: &Peer) -> f32 {
    peer.in_flight() as f32 / f32::from(peer.weight())
}

#[cfg(test)]
mod tests {
    use crate::config::model::Balance;
    use crate::upstream::Hold;
    use crate::upstream::balance::PeerSet;
    use crate::upstream::balance::tests::{balancer, eject, port, set, tried};

    use super::*;

    fn three(weights: [u16; 3]) -> (PeerSet, Balancer) {
        let [first, second, third] = weights;
        let peers = [(1, first), (2, second), (3, third)];
        (set(&peers, &Balance::LeastRequests), balancer(&Balance::LeastRequests))
    }

    fn in_flight(set: &PeerSet) -> Vec<usize> {
        set.peers.iter().map(Peer::in_flight).collect()
    }

    #[test]
    fn a_peer_that_answers_nothing_is_never_ahead_of_the_others() {
        let (set, balancer) = three([1; 3]);
        let mut stuck: Vec<Hold> = Vec::new();
        for _ in 0..1000 {
            let mut held: Vec<Hold> = (0..4).map(|_| balancer.pick(&set, &Ask::default()).unwrap()).collect();
            stuck.extend(held.extract_if(.., |hold| port(hold) == 2));
        }
        // Of four at once, the others have two each at the end.
        assert!(stuck.len() <= 2, "{}", stuck.len());
    }

    #[test]
    fn busy_is_relative_to_weight() {
        let (set, balancer) = three([3, 1, 1]);
        let _held: Vec<Hold> = (0..50).map(|_| balancer.pick(&set, &Ask::default()).unwrap()).collect();
        assert_eq!(in_flight(&set), [30, 10, 10]);
    }

    #[test]
    fn those_without_requests_get_them_by_weight() {
        let (set, balancer) = three([3, 1, 1]);
        let first = (0..5000).filter(|_| port(&balancer.pick(&set, &Ask::default()).unwrap()) == 1).count();
        assert!((2700..3300).contains(&first), "{first}");
    }

    #[test]
    fn requests_of_a_peer_that_is_left_out_go_to_all_the_others() {
        let (set, balancer) = three([1; 3]);
        eject(&set, &[1]);
        let _held: Vec<Hold> = (0..10).map(|_| balancer.pick(&set, &Ask::default()).unwrap()).collect();
        assert_eq!(in_flight(&set), [0, 5, 5]);
        let tried = tried(&set, &[2]);
        assert_eq!(port(&balancer.pick(&set, &Ask { key: None, tried: &tried }).unwrap()), 3);
    }

    #[test]
    fn of_many_the_less_busy_of_two_is_taken() {
        let peers: Vec<(u16, u16)> = (1..=20).map(|port| (port, 1)).collect();
        let (set, balancer) = (set(&peers, &Balance::LeastRequests), balancer(&Balance::LeastRequests));
        let _held: Vec<Hold> = (0..400).map(|_| balancer.pick(&set, &Ask::default()).unwrap()).collect();
        let most = in_flight(&set).into_iter().max().unwrap();
        assert!(most <= 26, "20 each, more or less: {most}");
    }
}
