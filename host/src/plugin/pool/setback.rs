//! How often in a row a worker could not set an instance up, and for how long it leaves off trying: what burns
//! its time at each attempt must not get one with each request. Must not know why it failed.

use std::time::{Duration, Instant};

/// Failures in a row before the first pause.
const PATIENCE: u32 = 3;

/// The first pause. Each failure after it doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// One worker's failures in a row.
#[derive(Debug, Default)]
pub(super) struct Setback {
    failures: u32,
    paused_until: Option<Instant>,
}

impl Setback {
    /// Whether an attempt may be made now. After a pause there is one; others wait for as long again, or until
    /// it has succeeded.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        match self.paused_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                self.paused_until = now.checked_add(self.pause());
                true
            }
        }
    }

    /// One more attempt failed.
    pub(super) fn add(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= PATIENCE {
            self.paused_until = now.checked_add(self.pause());
        }
    }

    fn pause(&self) -> Duration {
        let doubled = 2_u32.saturating_pow(self.failures.saturating_sub(PATIENCE));
        FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut setback = Setback::default();
        for _ in 0..PATIENCE {
            assert!(setback.admits(start));
            setback.add(start);
        }
        let mut check = |from: u64, to: u64| {
            assert!(!setback.admits(at(to) - Duration::from_millis(1)), "paused from {from} to {to}");
            assert!(setback.admits(at(to)), "one attempt at {to}");
            assert!(!setback.admits(at(to)), "and no second one");
            setback.add(at(to));
        };
        for (from, to) in [(0, 1), (1, 3), (3, 7), (7, 15), (15, 31), (31, 63), (63, 123), (123, 183)] {
            check(from, to);
        }
    }

    #[test]
    fn an_attempt_that_is_never_heard_of_again_is_not_the_last() {
        let start = Instant::now();
        let mut setback = Setback::default();
        for _ in 0..PATIENCE {
            setback.add(start);
        }
        assert!(setback.admits(start + Duration::from_secs(1)));
        assert!(setback.admits(start + Duration::from_secs(2)));
    }
}
