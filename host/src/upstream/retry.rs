//! How many requests of an upstream are tried again at once: a share of those in flight, so that retries never are
//! what breaks a busy upstream. Knows nothing of why they are.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// So many may always be tried again: with few requests, a share of them says nothing.
const ALWAYS: usize = 3;

/// The retries of an upstream. Shared by those under way.
#[derive(Debug, Default)]
pub(super) struct RetryBudget {
    under_way: AtomicUsize,
    pub(super) allowed: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// A request that is being tried again; counted until this is dropped.
#[derive(Debug)]
pub struct Retrying(Arc<RetryBudget>);

impl RetryBudget {
    /// Lets a request be tried again where no more than `share` percent of `in_flight` requests are.
    pub(super) fn draw(self: &Arc<Self>, share: u8, in_flight: usize) -> Option<Retrying> {
        let most = (in_flight.saturating_mul(usize::from(share)) / 100).max(ALWAYS);
        if self.under_way.fetch_add(1, Relaxed) < most {
            self.allowed.fetch_add(1, Relaxed);
            return Some(Retrying(Arc::clone(self)));
        }
        self.under_way.fetch_sub(1, Relaxed);
        self.refused.fetch_add(1, Relaxed);
        None
    }
}

impl Drop for Retrying {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_requests_in_flight_and_always_three() {
        let check = |share: u8, in_flight: usize, expected: usize| {
            let budget = Arc::new(RetryBudget::default());
            let drawn: Vec<_> = std::iter::from_fn(|| budget.draw(share, in_flight)).collect();
            assert_eq!(drawn.len(), expected, "{share} % of {in_flight}");
            drop(drawn);
            assert!(budget.draw(share, in_flight).is_some(), "they are given back");
            assert_eq!(
                (budget.allowed.load(Relaxed), budget.refused.load(Relaxed)),
                (expected as u64 + 1, 1)
            );
        };
        check(20, 0, 3);
        check(20, 100, 20);
        check(0, 1000, 3);
        check(100, 10, 10);
    }
}
