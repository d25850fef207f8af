//! What one key has counted, and when it is forgotten. Pure: the time is told. Must not know keys.

use super::{Rule, Standing, Window};
use crate::plugin::capability::shelf::Millis;

/// Parts of a sliding span.
const PARTS: u64 = 16;
/// The part that is running, and those before it that reach into the span.
const SLOTS: usize = PARTS as usize + 1;

/// What was counted in a span.
#[derive(Debug)]
pub(super) struct Tally {
    span: Millis,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Fixed {
        began: Millis,
        counted: u32,
    },
    Sliding {
        /// Number of the newest part.
        newest: u64,
        /// By number of the part, modulo their count.
        slots: Box<[u32; SLOTS]>,
    },
}

impl Tally {
    pub(super) fn new(rule: Rule, now: Millis) -> Self {
        let kept = match rule.window {
            Window::Fixed => Kept::Fixed { began: now, counted: 0 },
            Window::Sliding => Kept::Sliding { newest: now / part(rule.span), slots: Box::default() },
        };
        Self { span: rule.span, kept }
    }

    /// Whether it counts by such a rule; limits may differ.
    pub(super) fn is_of(&self, rule: Rule) -> bool {
        let window = match self.kept {
            Kept::Fixed { .. } => Window::Fixed,
            Kept::Sliding { .. } => Window::Sliding,
        };
        self.span == rule.span && window == rule.window
    }

    /// When all of it is forgotten.
    pub(super) fn end(&self, rule: Rule) -> Millis {
        match &self.kept {
            Kept::Fixed { began, .. } => began.saturating_add(rule.span),
            Kept::Sliding { newest, .. } => (newest + SLOTS as u64).saturating_mul(part(rule.span)),
        }
    }

    /// Counts an amount, if it fits. Another thread may have come with a later time before.
    pub(super) fn take(&mut self, amount: u32, rule: Rule, now: Millis) -> Standing {
        match &mut self.kept {
            Kept::Fixed { began, counted } => fixed(began, counted, amount, rule, now),
            Kept::Sliding { newest, slots } => sliding(newest, slots, amount, rule, now),
        }
    }
}

/// A part of a sliding span: rounded up, so that the parts are never shorter than the span.
fn part(span: Millis) -> Millis {
    span.div_ceil(PARTS)
}

fn fixed(began: &mut Millis, counted: &mut u32, amount: u32, rule: Rule, now: Millis) -> Standing {
    let fits = |counted: u32| counted.checked_add(amount).filter(|sum| *sum <= rule.limit);
    let sum = fits(*counted);
    if let Some(sum) = sum {
        *counted = sum;
    }
    let left = began.saturating_add(rule.span).saturating_sub(now);
    Standing {
        allowed: sum.is_some(),
        remaining: rule.limit.saturating_sub(*counted),
        retry: if sum.is_some() { 0 } else { left },
        reset: left,
    }
}

fn sliding(newest: &mut u64, slots: &mut [u32; SLOTS], amount: u32, rule: Rule, now: Millis) -> Standing {
    let part = part(rule.span);
    let current = (now / part).max(*newest);
    // What has passed since is empty again.
    for passed in (*newest + 1..=current).take(SLOTS) {
        put(slots, passed, 0);
    }
    *newest = current;
    let counted: u64 = slots.iter().map(|count| u64::from(*count)).sum();
    let over = (counted + u64::from(amount)).saturating_sub(u64::from(rule.limit));
    if over == 0 {
        put(slots, current, at(slots, current).saturating_add(amount));
    }
    let counted = if over == 0 { counted + u64::from(amount) } else { counted };
    Standing {
        allowed: over == 0,
        remaining: u32::try_from(u64::from(rule.limit).saturating_sub(counted)).unwrap_or(0),
        retry: if over == 0 { 0 } else { until_freed(slots, current, over, part, now).unwrap_or(rule.span) },
        reset: until_forgotten(slots, current, part, now),
    }
}

/// Milliseconds until `over` of what was counted is forgotten; nothing if there is not as much.
fn until_freed(slots: &[u32; SLOTS], current: u64, over: u64, part: Millis, now: Millis) -> Option<Millis> {
    let oldest = (current + 1).checked_sub(SLOTS as u64);
    let mut freed = 0;
    for number in oldest.unwrap_or(0)..=current {
        freed += u64::from(at(slots, number));
        if freed >= over {
            return Some(forgotten(number, part).saturating_sub(now));
        }
    }
    None
}

/// Milliseconds until all of what was counted is forgotten.
fn until_forgotten(slots: &[u32; SLOTS], current: u64, part: Millis, now: Millis) -> Millis {
    let oldest = (current + 1).saturating_sub(SLOTS as u64);
    let last = (oldest..=current).rev().find(|number| at(slots, *number) > 0);
    last.map_or(0, |number| forgotten(number, part).saturating_sub(now))
}

/// When a part is out of every span that includes the present.
fn forgotten(number: u64, part: Millis) -> Millis {
    (number + SLOTS as u64).saturating_mul(part)
}

fn at(slots: &[u32; SLOTS], number: u64) -> u32 {
    slots.get(index(number)).copied().unwrap_or(0)
}

fn put(slots: &mut [u32; SLOTS], number: u64, count: u32) {
    if let Some(slot) = slots.get_mut(index(number)) {
        *slot = count;
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number % SLOTS as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(window: Window) -> Rule {
        Rule { limit: 10, span: 1_600, window }
    }

    fn standing(allowed: bool, remaining: u32, retry: Millis, reset: Millis) -> Standing {
        Standing { allowed, remaining, retry, reset }
    }

    #[test]
    fn a_fixed_window_is_forgotten_at_once() {
        let rule = rule(Window::Fixed);
        let mut tally = Tally::new(rule, 1_000);
        assert_eq!(tally.take(7, rule, 1_000), standing(true, 3, 0, 1_600));
        assert_eq!(tally.take(4, rule, 1_100), standing(false, 3, 1_500, 1_500));
        assert_eq!(tally.take(3, rule, 1_200), standing(true, 0, 0, 1_400));
        assert_eq!(tally.take(0, rule, 1_300), standing(true, 0, 0, 1_300));
        assert_eq!(tally.take(u32::MAX, rule, 2_599), standing(false, 0, 1, 1));
        assert_eq!(tally.end(rule), 2_600);
    }

    #[test]
    fn a_sliding_window_is_forgotten_bit_by_bit() {
        let rule = rule(Window::Sliding);
        let mut tally = Tally::new(rule, 50);
        // Parts of 100 ms; part 0 is forgotten at 1,700.
        assert_eq!(tally.take(6, rule, 50), standing(true, 4, 0, 1_650));
        assert_eq!(tally.take(4, rule, 820), standing(true, 0, 0, 1_680));
        assert_eq!(tally.take(1, rule, 1_600), standing(false, 0, 100, 900));
        assert_eq!(tally.take(7, rule, 1_699), standing(false, 0, 801, 801));
        assert_eq!(tally.take(6, rule, 1_700), standing(true, 0, 0, 1_700));
        assert_eq!(tally.take(11, rule, 1_700), standing(false, 0, 1_600, 1_700));
        assert_eq!(tally.take(0, rule, 100_000), standing(true, 10, 0, 0));
        assert_eq!(tally.take(10, rule, 100_000), standing(true, 0, 0, 1_700));
    }

    #[test]
    fn no_span_has_more_than_the_limit() {
        let rule = rule(Window::Sliding);
        let mut tally = Tally::new(rule, 0);
        // Greedy clients, at odd moments.
        let mut taken: Vec<(Millis, u32)> = Vec::new();
        let mut now = 0;
        for step in 0..5_000_u64 {
            now += (step * 7_919) % 61;
            if tally.take(1, rule, now).allowed {
                taken.push((now, 1));
            }
        }
        for (start, _) in &taken {
            let span = *start..*start + rule.span;
            let count = taken.iter().filter(|(at, _)| span.contains(at)).count();
            assert!(count <= 10, "{count} from {start}");
        }
        let least = now / (rule.span * 17 / 16) * 10;
        assert!(taken.len() as u64 > least * 9 / 10, "{} in {now} ms", taken.len());
    }
}
