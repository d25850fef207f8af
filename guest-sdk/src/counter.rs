//! Counters over a span of time, for rate limits: WIT `counter`. Granted by `grants = { counter = true }` in the
//! manifest. Must not know how they are kept.
//!
//! ```
//! use std::time::Duration;
//! use edgewright_sdk::counter::{self, Rule};
//!
//! # fn main() -> Result<(), edgewright_sdk::CounterError> {
//! let rule = Rule::sliding(100, Duration::from_secs(60));
//! let standing = counter::take("192.0.2.1", 1, rule)?;
//! assert!(standing.allowed && standing.remaining == 99);
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use crate::CounterError;
use crate::host::counter as host;

/// How much, and how often. A key whose span or window changes starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// As much as may be counted in a span.
    pub limit: u32,
    /// To the millisecond: 100 ms to 30 days.
    pub span: Duration,
    /// When it is forgotten.
    pub window: Window,
}

/// When what was counted is forgotten: WIT `counter.window`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// All of it at once, a span after the first.
    Fixed,
    /// Bit by bit, in sixteenths of the span: never more than the limit in any span.
    Sliding,
}

impl Rule {
    /// All that was counted is forgotten at once, a span after the first.
    pub const fn fixed(limit: u32, span: Duration) -> Self {
        Self { limit, span, window: Window::Fixed }
    }

    /// Never more than the limit in any span.
    pub const fn sliding(limit: u32, span: Duration) -> Self {
        Self { limit, span, window: Window::Sliding }
    }
}

/// How a key stands after a call: WIT `counter.standing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether the amount fitted, and was counted.
    pub allowed: bool,
    /// What is left of the limit.
    pub remaining: u32,
    /// How long until the same amount may fit; nothing if it did.
    pub retry: Duration,
    /// How long until all that was counted so far is forgotten.
    pub reset: Duration,
}

/// Counts an amount if it fits into the limit, and nothing if it does not. With an amount of 0, it looks only.
///
/// # Errors
/// The key or the rule is out of range, or there are too many keys: see [`CounterError`].
pub fn take(key: &str, amount: u32, rule: Rule) -> Result<Standing, CounterError> {
    let span = u32::try_from(rule.span.as_millis()).map_err(|_| CounterError::InvalidRule)?;
    host::take(key, amount, rule, span)
}
