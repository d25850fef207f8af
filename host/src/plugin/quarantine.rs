//! A phase of a plugin that fails again and again: it is left out for a while, then one call tries, and its
//! outcome decides. One state for all workers, read with one atomic; a lock is taken only by calls that fail.
//! Must not know what a request gets meanwhile.
//!
//! Only failures in a row count. Whoever can make a plugin fail by a request of his own can't have it left out
//! while it serves others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;

use super::exchange::Failure;
use crate::config::model::Quarantine as Rules;
use crate::phase::Phase;

/// No failure since the last call that went well.
const WELL: u64 = 0;

/// Some failures in a row, too few yet.
const WATCHED: u64 = 1;

/// What is longer than any call may take is an attempt that is never heard of again.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Watches over one phase of a plugin.
#[derive(Debug)]
pub(super) struct Quarantine {
    plugin: Arc<str>,
    phase: Phase,
    rules: Rules,
    start: Instant,
    /// [`WELL`], [`WATCHED`], or the millisecond since `start` from which on one call may try.
    state: AtomicU64,
    row: Mutex<Row>,
    /// How often it began or was renewed.
    begun: Counter,
}

#[derive(Debug)]
struct Row {
    failures: u32,
    began: Instant,
    /// Pauses since the last call that went well.
    pauses: u32,
}

/// Leave to make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Free,
    /// Its outcome ends or renews the quarantine.
    Attempt,
}

impl Quarantine {
    pub(super) fn new(plugin: &Arc<str>, phase: Phase, rules: Rules, begun: Counter) -> Self {
        let start = Instant::now();
        Self {
            plugin: Arc::clone(plugin),
            phase,
            rules,
            start,
            state: AtomicU64::new(WELL),
            row: Mutex::new(Row { failures: 0, began: start, pauses: 0 }),
            begun,
        }
    }

    /// Whether a call may be made.
    #[inline]
    pub(super) fn admit(&self) -> Option<Pass> {
        match self.state.load(Ordering::Relaxed) {
            WELL | WATCHED => Some(Pass::Free),
            until => self.attempt(until, Instant::now()),
        }
    }

    /// A call returned.
    #[inline]
    pub(super) fn succeeded(&self) {
        if self.state.load(Ordering::Relaxed) != WELL {
            self.recovered();
        }
    }

    /// A call failed. What is not the guest's doing, or is told in order, is no reason for quarantine.
    pub(super) fn failed(&self, pass: Pass, failure: Failure) {
        match failure {
            Failure::Trap
            | Failure::TimeLimit
            | Failure::MemoryLimit
            | Failure::StackLimit
            | Failure::HostCallLimit
            | Failure::HostPanic => self.count(pass, failure, Instant::now()),
            _ => {}
        }
    }

    /// Until the next attempt, where it is left out.
    pub(super) fn remaining(&self) -> Option<Duration> {
        match self.state.load(Ordering::Relaxed) {
            WELL | WATCHED => None,
            until => Some(Duration::from_millis(until.saturating_sub(self.millis(Instant::now())))),
        }
    }

    /// One of the calls that come after the pause.
    fn attempt(&self, until: u64, now: Instant) -> Option<Pass> {
        let millis = self.millis(now);
        if millis < until {
            return None;
        }
        // If the attempt is dropped half-way, another one is made later.
        let later = millis + whole_millis(ATTEMPT);
        let won = self.state.compare_exchange(until, later, Ordering::Relaxed, Ordering::Relaxed);
        won.ok().map(|_| Pass::Attempt)
    }

    fn count(&self, pass: Pass, failure: Failure, now: Instant) {
        let Some(most) = self.rules.failures else { return };
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        let is_on = self.state.load(Ordering::Relaxed) > WATCHED;
        match pass {
            Pass::Attempt => {}
            // It began before the pause.
            Pass::Free if is_on => return,
            Pass::Free => {
                if row.failures == 0 || now.duration_since(row.began) > self.rules.window {
                    row.failures = 0;
                    row.began = now;
                }
                row.failures += 1;
                if row.failures < most.get() {
                    self.state.store(WATCHED, Ordering::Relaxed);
                    return;
                }
            }
        }
        let doubled = 2_u32.saturating_pow(row.pauses);
        let pause = self.rules.pause.saturating_mul(doubled).min(self.rules.longest_pause);
        row.pauses = row.pauses.saturating_add(1);
        let until = self.millis(now).saturating_add(whole_millis(pause)).max(WATCHED + 1);
        self.state.store(until, Ordering::Relaxed);
        self.begun.inc();
        tracing::error!(
            target: "plugin",
            plugin = &*self.plugin,
            phase = self.phase.name(),
            reason = failure.name(),
            failures = row.failures,
            pause_ms = whole_millis(pause),
            "plugin in quarantine"
        );
    }

    fn recovered(&self) {
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        let was_on = self.state.swap(WELL, Ordering::Relaxed) > WATCHED;
        row.failures = 0;
        row.pauses = 0;
        if was_on {
            let (plugin, phase) = (&*self.plugin, self.phase.name());
            tracing::info!(target: "plugin", plugin, phase, "plugin out of quarantine");
        }
    }

    fn millis(&self, now: Instant) -> u64 {
        whole_millis(now.duration_since(self.start))
    }
}

fn whole_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn quarantine(failures: u32) -> Quarantine {
        let rules = Rules {
            failures: NonZeroU32::new(failures),
            window: Duration::from_secs(10),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
        };
        Quarantine::new(&"a".into(), Phase::Request, rules, Counter::default())
    }

    /// What a call at that second may do.
    fn admit(it: &Quarantine, second: u64) -> Option<Pass> {
        match it.state.load(Ordering::Relaxed) {
            WELL | WATCHED => Some(Pass::Free),
            until => it.attempt(until, it.start + Duration::from_secs(second)),
        }
    }

    fn fail(it: &Quarantine, pass: Pass, second: u64) {
        it.count(pass, Failure::Trap, it.start + Duration::from_secs(second));
    }

    #[test]
    fn pauses_double_until_an_attempt_goes_well() {
        let it = quarantine(3);
        for _ in 0..3 {
            assert_eq!(admit(&it, 0), Some(Pass::Free));
            fail(&it, Pass::Free, 0);
        }
        let mut now = 0;
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(admit(&it, now), None, "{pause} s at {now}");
            now += pause;
            assert_eq!(admit(&it, now), Some(Pass::Attempt), "{pause} s at {now}");
            assert_eq!(admit(&it, now), None, "one at a time");
            fail(&it, Pass::Free, now);
            fail(&it, Pass::Attempt, now);
        }
        assert_eq!(it.begun.get(), 9, "the first, and each failed attempt");
        now += 60;
        assert_eq!(admit(&it, now), Some(Pass::Attempt));
        it.succeeded();
        assert_eq!((admit(&it, now), it.remaining()), (Some(Pass::Free), None));
        for _ in 0..3 {
            fail(&it, Pass::Free, now);
        }
        assert_eq!(admit(&it, now + 1), Some(Pass::Attempt), "the first pause again");
    }

    #[test]
    fn what_is_no_row_is_no_reason() {
        let it = quarantine(3);
        for second in 0..100 {
            fail(&it, Pass::Free, second * 6);
            assert_eq!(admit(&it, second * 6), Some(Pass::Free), "too far apart");
        }
        for _ in 0..100 {
            fail(&it, Pass::Free, 1_000);
            fail(&it, Pass::Free, 1_000);
            it.succeeded();
            assert_eq!(admit(&it, 1_000), Some(Pass::Free), "not in a row");
        }
        for _ in 0..100 {
            it.failed(Pass::Free, Failure::PoolExhausted);
            it.failed(Pass::Free, Failure::BadResponse);
        }
        assert_eq!(admit(&it, 1_000), Some(Pass::Free), "not of that kind");
        let never = quarantine(0);
        (0..100).for_each(|_| fail(&never, Pass::Free, 0));
        assert_eq!(admit(&never, 0), Some(Pass::Free));
    }

    #[test]
    fn an_attempt_that_is_never_heard_of_again_is_not_the_last() {
        let it = quarantine(1);
        fail(&it, Pass::Free, 0);
        assert_eq!(admit(&it, 1), Some(Pass::Attempt));
        assert_eq!(admit(&it, 2), None);
        assert_eq!(admit(&it, 3), Some(Pass::Attempt));
    }
}
