//! A consistent hash: each peer owns points of a circle, and a key belongs to the next point. A peer that comes or
//! goes moves its own share of the keys and no others. The points depend on addresses alone, so all proxies of one
//! configuration send a key to the same peer.

use sha2::{Digest, Sha256};

use crate::upstream::Endpoint;

/// Points of a peer of weight 1: the shares of peers differ by a tenth, mostly.
const POINTS: u32 = 160;

/// Points that one hash gives.
const POINTS_A_HASH: u32 = 4;

/// The circle.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Sorted; with the place of the peer that owns the point.
    points: Vec<(u64, u32)>,
}

impl Ring {
    /// A circle of these peers, with the points of each in proportion to its weight.
    pub(super) fn of<'a>(peers: impl Iterator<Item = (&'a Endpoint, u16)>) -> Self {
        let mut points = Vec::new();
        for (place, (endpoint, weight)) in peers.enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            let name = endpoint.to_string();
            for number in 0..POINTS / POINTS_A_HASH * u32::from(weight) {
                let hash = Sha256::new().chain_update(&name).chain_update(number.to_be_bytes()).finalize();
                points.extend(hash.chunks_exact(8).map(|part| (number_of(part), place)));
            }
        }
        points.sort_unstable();
        Self { points }
    }

    /// The places of peers from a key's point on, all around; places come several times.
    pub(super) fn from(&self, key: u64) -> impl Iterator<Item = usize> {
        let start = self.points.partition_point(|(point, _)| *point < key);
        let (before, behind) = self.points.split_at_checked(start).unwrap_or_default();
        behind.iter().chain(before).map(|(_, place)| *place as usize)
    }
}

/// The point of a key.
pub(super) fn point(key: &[u8]) -> u64 {
    let hash = Sha256::digest(key);
    hash.first_chunk().map_or(0, |part| u64::from_be_bytes(*part))
}

fn number_of(part: &[u8]) -> u64 {
    part.first_chunk().map_or(0, |part| u64::from_be_bytes(*part))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn endpoints(count: u8) -> Vec<Endpoint> {
        (0..count).map(|last| Endpoint::Tcp(SocketAddr::from(([10, 0, 0, last], 80)))).collect()
    }

    /// Where each of 10,000 keys goes.
    fn owners(endpoints: &[Endpoint], weights: &[u16]) -> Vec<Endpoint> {
        let ring = Ring::of(endpoints.iter().zip(weights.iter().copied()));
        let key = |number: u32| ring.from(point(&number.to_be_bytes())).next().unwrap();
        (0..10_000).map(|number| endpoints[key(number)].clone()).collect()
    }

    #[test]
    fn a_peer_that_goes_moves_its_own_keys_alone() {
        let all = endpoints(10);
        let before = owners(&all, &[1; 10]);
        let after = owners(&all[..9], &[1; 9]);
        let gone = &all[9];
        let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        let owned = before.iter().filter(|owner| *owner == gone).count();
        assert_eq!(moved, owned);
        assert!((700..1300).contains(&owned), "{owned} of 10000 keys at one of ten peers");
    }

    #[test]
    fn the_order_of_the_list_changes_nothing() {
        let all = endpoints(5);
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        assert_eq!(owners(&all, &[1; 5]), owners(&reversed, &[1; 5]));
    }

    #[test]
    fn weights_are_shares() {
        let all = endpoints(2);
        let owned = owners(&all, &[3, 1]).iter().filter(|owner| **owner == all[0]).count();
        assert!((6500..8500).contains(&owned), "{owned} of 10000 keys at three quarters");
    }
}
