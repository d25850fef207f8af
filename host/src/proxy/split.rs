//! Which upstream of several a request goes to. Decided once per request: retries stay with it. The same key gives
//! the same upstream on every worker and every machine that runs this version.

use std::hash::{BuildHasher, Hasher};
use std::net::IpAddr;

use foldhash::quality::FixedState;
use http::header;
use pingora::http::RequestHeader;

use crate::config::model::{Split, SplitKey};
use crate::cookie;
use crate::plugin::exchange::Facts;

/// The place of the chosen share.
pub(crate) fn choose(split: &Split, head: &RequestHeader, facts: Option<&Facts>) -> usize {
    let point = match &split.sticky {
        Some(sticky) => point_of(sticky, head, facts),
        None => None,
    };
    share_at(split, point.unwrap_or_else(|| fastrand::u64(..)))
}

/// The share that has this point of all points. Shares lie beside each other in the order of the file: where one
/// grows, only what it gains moves.
fn share_at(split: &Split, point: u64) -> usize {
    let scaled = (u128::from(point) * u128::from(split.total())) >> 64;
    let mut end = 0;
    for (index, share) in split.shares.iter().enumerate() {
        end += u128::from(share.weight);
        if scaled < end {
            return index;
        }
    }
    0
}

/// `None` for a request that lacks what it is told by.
fn point_of(sticky: &SplitKey, head: &RequestHeader, facts: Option<&Facts>) -> Option<u64> {
    match sticky {
        SplitKey::ClientAddress => match facts?.client {
            IpAddr::V4(address) => Some(hash(&address.octets())),
            IpAddr::V6(address) => Some(hash(&address.octets())),
        },
        SplitKey::Header(name) => Some(hash(head.headers.get(name)?.as_bytes())),
        SplitKey::Cookie(name) => {
            let lines = head.headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
            cookie::value(lines, name.as_bytes()).map(hash)
        }
    }
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use crate::config::model::Share;
    use crate::ids::UpstreamId;

    use super::*;

    fn split(weights: &[u32], sticky: Option<SplitKey>) -> Split {
        let share = |(at, weight): (usize, &u32)| Share { upstream: UpstreamId::at(at), weight: *weight };
        Split { shares: weights.iter().enumerate().map(share).collect(), sticky }
    }

    #[test]
    fn points_are_shared_by_weight() {
        let check = |weights: &[u32], point: u64, expected: usize| {
            assert_eq!(share_at(&split(weights, None), point), expected, "{weights:?} at {point}");
        };
        check(&[90, 10], 0, 0);
        check(&[90, 10], u64::MAX / 10 * 9 - 10, 0);
        check(&[90, 10], u64::MAX / 10 * 9 + 10, 1);
        check(&[90, 10], u64::MAX, 1);
        check(&[0, 1], 0, 1);
        check(&[1, 0], u64::MAX, 0);
        check(&[1, 1, 1], u64::MAX / 2, 1);
    }

    #[test]
    fn a_key_decides_and_a_growing_share_keeps_what_it_has() {
        let chosen = |weights: &[u32], key: &str| {
            let mut head = RequestHeader::build("GET", b"/", None).unwrap();
            head.append_header("cookie", format!("a=1; user={key}")).unwrap();
            choose(&split(weights, Some(SplitKey::Cookie("user".into()))), &head, None)
        };
        let keys: Vec<String> = (0..2000).map(|number| format!("user-{number}")).collect();
        let few = keys.iter().filter(|key| chosen(&[90, 10], key) == 1).count();
        assert!((100..300).contains(&few), "{few} of 2000 for a tenth");
        for key in &keys {
            assert_eq!(chosen(&[90, 10], key), chosen(&[90, 10], key), "{key}");
            if chosen(&[90, 10], key) == 1 {
                assert_eq!(chosen(&[70, 30], key), 1, "{key}");
            }
        }
    }
}
