//! File descriptors: as many as the process may have, and the part of them that idle connections to peers take.
//! Knows nothing of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Idle connections to peers that one worker keeps at most.
const KEPT: usize = 512;

/// The part of all descriptors that idle connections take at most: the others are for clients and requests.
const SHARE: u64 = 4;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_take_a_quarter_of_the_descriptors() {
        let check = |limit, workers, expected| assert_eq!(kept_connections(limit, workers), expected);
        check(None, 4, 512);
        check(Some(1_000_000), 4, 512);
        check(Some(1024), 4, 64);
        check(Some(1024), 2, 128);
        check(Some(10), 8, 1);
    }
}
