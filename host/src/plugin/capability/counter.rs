//! Counters over a span of time, of one plugin, for all its instances: WIT `counter`. Must not know which plugin.

mod window;

use std::sync::atomic::{AtomicUsize, Ordering};

use self::window::Tally;
use super::shelf::{Millis, Shelf};

/// Bytes of a key.
const MAX_KEY: usize = 256;
/// Shorter spans are those of a lock, longer ones those of a data base.
const SPANS: std::ops::RangeInclusive<Millis> = 100..=30 * 24 * 3_600 * 1_000;
/// Keys that each new key looks at for their end: more than it adds.
const SWEEP: usize = 4;
/// The same for each part, where a new key finds no room.
const SWEEP_WHEN_FULL: usize = 256;

/// WIT `counter.rule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) struct Rule {
    pub(in crate::plugin) limit: u32,
    pub(in crate::plugin) span: Millis,
    pub(in crate::plugin) window: Window,
}

/// WIT `counter.window`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum Window {
    Fixed,
    Sliding,
}

/// WIT `counter.standing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) struct Standing {
    pub(in crate::plugin) allowed: bool,
    pub(in crate::plugin) remaining: u32,
    pub(in crate::plugin) retry: Millis,
    pub(in crate::plugin) reset: Millis,
}

/// Why nothing was counted: WIT `counter.counter-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum Refused {
    InvalidKey,
    InvalidRule,
    Full,
}

/// All counters of one plugin.
#[derive(Debug, Default)]
pub(in crate::plugin) struct Counters {
    shelf: Shelf<Tally>,
    keys: AtomicUsize,
    limit: AtomicUsize,
}

impl Counters {
    /// From now on, there may be this many keys. What is over it stays.
    pub(super) fn allow(&self, keys: usize) {
        self.limit.store(keys, Ordering::Relaxed);
    }

    pub(in crate::plugin) fn take(&self, key: &str, amount: u32, rule: Rule) -> Result<Standing, Refused> {
        self.take_at(key, amount, rule, self.shelf.now())
    }

    fn take_at(&self, key: &str, amount: u32, rule: Rule, now: Millis) -> Result<Standing, Refused> {
        if key.is_empty() || key.len() > MAX_KEY {
            return Err(Refused::InvalidKey);
        }
        if !SPANS.contains(&rule.span) {
            return Err(Refused::InvalidRule);
        }
        let mut shard = self.shelf.shard(key).ok_or(Refused::InvalidKey)?;
        if let Some(tally) = shard.live(key, now).filter(|tally| tally.is_of(rule)) {
            let standing = tally.take(amount, rule, now);
            let end = tally.end(rule);
            shard.prolong(key, end);
            return Ok(standing);
        }
        let mut tally = Tally::new(rule, now);
        let standing = tally.take(amount, rule, now);
        if amount == 0 || !standing.allowed {
            // Nothing to remember.
            return Ok(standing);
        }
        if shard.stored(key).is_none() {
            shard.sweep(now, SWEEP, |_, _| self.release());
            if !self.make_room() {
                shard.sweep(now, SWEEP_WHEN_FULL, |_, _| self.release());
                let others = self.shelf.free_shards();
                others.for_each(|mut other| other.sweep(now, SWEEP_WHEN_FULL, |_, _| self.release()));
                if !self.make_room() {
                    return Err(Refused::Full);
                }
            }
        }
        let end = tally.end(rule);
        shard.put(key, tally, Some(end));
        Ok(standing)
    }

    fn make_room(&self) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let one_more = |keys: usize| (keys < limit).then_some(keys + 1);
        self.keys.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    fn release(&self) {
        self.keys.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXED: Rule = Rule { limit: 100, span: 3_600_000, window: Window::Fixed };
    const SLIDING: Rule = Rule { window: Window::Sliding, ..FIXED };

    fn counters(keys: usize) -> Counters {
        let counters = Counters::default();
        counters.allow(keys);
        counters
    }

    #[test]
    fn exactly_the_limit_is_allowed_to_many_threads() {
        for rule in [FIXED, SLIDING] {
            let counters = counters(10);
            let allowed = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|| {
                        for _ in 0..1_000 {
                            let standing = counters.take("k", 1, rule).expect("a counter");
                            allowed.fetch_add(usize::from(standing.allowed), Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(allowed.into_inner(), 100, "{rule:?}");
        }
    }

    #[test]
    fn keys_are_bounded_and_free_again_at_their_end() {
        let counters = counters(1_000);
        let take = |key: usize, now| counters.take_at(&key.to_string(), 1, FIXED, now);
        for key in 0..1_000 {
            assert!(take(key, 0).is_ok(), "{key}");
        }
        assert_eq!(take(1_000, 0), Err(Refused::Full));
        assert!(take(999, 1).is_ok(), "one that is there goes on");
        for key in 1_000..2_000 {
            assert!(take(key, FIXED.span).is_ok(), "{key}");
        }
        assert_eq!(counters.keys.load(Ordering::Relaxed), 1_000);
        assert_eq!(take(2_000, FIXED.span), Err(Refused::Full));
    }

    #[test]
    fn mistakes() {
        let counters = counters(10);
        let rule = |span| Rule { span, ..FIXED };
        assert_eq!(counters.take("", 1, FIXED), Err(Refused::InvalidKey));
        assert_eq!(counters.take(&"k".repeat(257), 1, FIXED), Err(Refused::InvalidKey));
        assert_eq!(counters.take("k", 1, rule(99)), Err(Refused::InvalidRule));
        assert_eq!(counters.take("k", 1, rule(2_592_000_001)), Err(Refused::InvalidRule));
        assert!(counters.take("k", 1, rule(100)).is_ok());
    }

    #[test]
    fn looking_and_refusals_take_no_room() {
        let counters = counters(1);
        assert_eq!(counters.take("a", 0, FIXED).map(|standing| standing.remaining), Ok(100));
        assert_eq!(counters.take("b", 101, FIXED).map(|standing| standing.allowed), Ok(false));
        assert_eq!(counters.take("c", 1, FIXED).map(|standing| standing.allowed), Ok(true));
        assert_eq!(counters.take("d", 1, FIXED), Err(Refused::Full));
    }

    #[test]
    fn another_span_starts_anew() {
        let counters = counters(1);
        assert_eq!(counters.take_at("a", 100, FIXED, 0).map(|standing| standing.remaining), Ok(0));
        let other = Rule { span: 1_000, ..FIXED };
        assert_eq!(counters.take_at("a", 1, other, 0).map(|standing| standing.remaining), Ok(99));
        let wider = Rule { limit: 200, ..other };
        assert_eq!(counters.take_at("a", 1, wider, 0).map(|standing| standing.remaining), Ok(198));
    }
}
