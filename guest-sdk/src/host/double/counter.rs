//! The double of `counter`: what this thread's plugins count, by the rules of `wit/counter.wit`. Must not know who
//! does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::CounterError;
use crate::counter::{Rule, Standing, Window};
use crate::testing::clock;

const MAX_KEY: usize = 256;
const MAX_KEYS: usize = 65_536;
const SPANS: std::ops::RangeInclusive<u32> = 100..=2_592_000_000;
const PARTS: u64 = 16;

/// What a key has counted: amounts, and when each is forgotten.
struct Counted {
    rule: Rule,
    amounts: Vec<(u64, u32)>,
}

thread_local! {
    static COUNTERS: RefCell<BTreeMap<String, Counted>> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn take(key: &str, amount: u32, rule: Rule, span_ms: u32) -> Result<Standing, CounterError> {
    if key.is_empty() || key.len() > MAX_KEY {
        return Err(CounterError::InvalidKey);
    }
    if !SPANS.contains(&span_ms) {
        return Err(CounterError::InvalidRule);
    }
    COUNTERS.with(|counters| {
        let counters = &mut *counters.borrow_mut();
        let now = clock::now();
        counters.retain(|name, counted| {
            counted.amounts.retain(|(end, _)| *end > now);
            let same = counted.rule.span == rule.span && counted.rule.window == rule.window;
            !counted.amounts.is_empty() && (name != key || same)
        });
        if counters.len() >= MAX_KEYS && !counters.contains_key(key) {
            return Err(CounterError::Full);
        }
        let counted = counters.entry(key.to_owned()).or_insert(Counted { rule, amounts: Vec::new() });
        Ok(counted.take(amount, rule, span_ms.into(), now))
    })
}

impl Counted {
    fn take(&mut self, amount: u32, rule: Rule, span: u64, now: u64) -> Standing {
        let sum: u64 = self.amounts.iter().map(|(_, amount)| u64::from(*amount)).sum();
        let over = (sum + u64::from(amount)).saturating_sub(rule.limit.into());
        if over == 0 && amount > 0 {
            let end = match rule.window {
                Window::Fixed => self.amounts.first().map_or(now + span, |(end, _)| *end),
                Window::Sliding => {
                    let part = span.div_ceil(PARTS);
                    (now / part + PARTS + 1) * part
                }
            };
            self.amounts.push((end, amount));
        }
        let sum = if over == 0 { sum + u64::from(amount) } else { sum };
        let mut freed = 0;
        let enough = self.amounts.iter().find(|(_, amount)| {
            freed += u64::from(*amount);
            freed >= over
        });
        let until = |end: u64| Duration::from_millis(end.saturating_sub(now));
        Standing {
            allowed: over == 0,
            remaining: u32::try_from(u64::from(rule.limit).saturating_sub(sum)).unwrap_or(0),
            retry: match enough {
                _ if over == 0 => Duration::ZERO,
                Some((end, _)) => until(*end),
                None => rule.span,
            },
            reset: self.amounts.last().map_or(Duration::ZERO, |(end, _)| until(*end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::CounterError;
    use crate::counter::{Rule, take};
    use crate::testing::advance;

    #[test]
    fn the_double_holds_to_the_contract() {
        let span = Duration::from_millis(1_600);
        let (fixed, sliding) = (Rule::fixed(10, span), Rule::sliding(10, span));
        assert_eq!(take("", 1, fixed), Err(CounterError::InvalidKey));
        assert_eq!(take("a", 1, Rule::fixed(1, Duration::from_millis(99))), Err(CounterError::InvalidRule));
        assert_eq!(take("a", 7, fixed).unwrap().remaining, 3);
        assert_eq!(take("b", 10, sliding).unwrap().remaining, 0);
        advance(Duration::from_millis(600));
        let refused = take("a", 4, fixed).unwrap();
        assert_eq!((refused.allowed, refused.retry), (false, Duration::from_millis(1_000)));
        assert_eq!(take("b", 1, sliding).unwrap().retry, Duration::from_millis(1_100));
        advance(Duration::from_millis(1_000));
        assert!(take("a", 10, fixed).unwrap().allowed);
        assert!(!take("b", 1, sliding).unwrap().allowed, "not before its sixteenth is out");
        advance(Duration::from_millis(100));
        assert!(take("b", 1, sliding).unwrap().allowed);
    }
}
