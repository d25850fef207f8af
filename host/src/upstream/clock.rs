//! Points in time that fit into an atomic: milliseconds since the process first looked. Knows nothing else.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds since the first call, counted from 1: zero means never.
pub(super) fn now() -> u64 {
    millis(START.elapsed()).saturating_add(1)
}

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
