//! File descriptors: as many as the process may have, and what they are for: idle connections to peers, and clients,
//! whose requests need a connection to a peer each. Knows nothing of what is sent.

use std::fs::File;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::proxy::Budget;

/// Idle connections to peers that one worker keeps at most: as many as come free at once after a burst of requests,
/// and few enough to look after.
const KEPT: usize = 4096;

/// The part of all descriptors that idle connections take at most: the others are for clients and requests.
const SHARE: u64 = 8;

/// The part of all descriptors that clients take at most who are told that there are too many, and their number in any
/// case.
const TOLD_SHARE: u64 = 16;
const TOLD: usize = 1024;

/// Descriptors that are neither for clients nor for peers: threads, listeners, logs, the admin address, name servers.
const RESERVE: u64 = 128;

/// Raises the soft limit to the hard one, as every server that is made for many connections does. Returns the limit;
/// `None` is none.
pub(super) fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::warn!(%error, limit = current, "the limit of descriptors can't be raised");
            current
        }
    }
}

/// Idle connections to peers that each worker keeps.
pub(super) fn kept_connections(limit: Option<u64>, workers: usize) -> usize {
    let all = limit.map_or(u64::MAX, |limit| limit / SHARE);
    let each = all / u64::try_from(workers.max(1)).unwrap_or(u64::MAX);
    usize::try_from(each).unwrap_or(usize::MAX).clamp(1, KEPT)
}

/// A descriptor that is kept for when there are no others.
#[derive(Debug)]
pub(super) struct Spare(Mutex<Option<File>>);

impl Spare {
    pub(super) fn keep() -> Self {
        let spare = Self(Mutex::new(None));
        spare.refill();
        spare
    }

    /// Keeps one again, if there is one to be had.
    pub(super) fn refill(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = File::open("/dev/null").ok();
        }
    }

    /// Gives it up for the next one who asks. Says whether there was one.
    pub(super) fn give_up(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}

/// Connections of clients that the descriptors are enough for.
pub(super) fn budget(limit: Option<u64>, workers: usize) -> Budget {
    let Some(limit) = limit else { return Budget { served: usize::MAX, told: TOLD } };
    let told = usize::try_from(limit / TOLD_SHARE).unwrap_or(usize::MAX).clamp(1, TOLD);
    let kept = kept_connections(Some(limit), workers).saturating_mul(workers);
    let taken = RESERVE.saturating_add(u64::try_from(told.saturating_add(kept)).unwrap_or(u64::MAX));
    let served = usize::try_from(limit.saturating_sub(taken) / 2).unwrap_or(usize::MAX);
    Budget { served: served.max(1), told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_take_an_eighth_of_the_descriptors() {
        let check = |limit, workers, expected| assert_eq!(kept_connections(limit, workers), expected);
        check(None, 4, 4096);
        check(Some(1_000_000), 4, 4096);
        check(Some(20_000), 2, 1250);
        check(Some(1024), 4, 32);
        check(Some(1024), 2, 64);
        check(Some(10), 8, 1);
    }

    #[test]
    fn each_client_has_a_descriptor_and_one_for_its_peer() {
        let check = |limit, workers, served, told| {
            assert_eq!(budget(limit, workers), Budget { served, told });
        };
        check(None, 2, usize::MAX, 1024);
        check(Some(1024), 2, 352, 64);
        check(Some(65_536), 2, 28_096, 1024);
        check(Some(64), 2, 1, 4);
    }
}
