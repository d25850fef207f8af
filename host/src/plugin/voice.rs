//! What a plugin writes into the proxy's log, and what the proxy writes about it: one line at a time, escaped,
//! cut and limited in rate. Must not know where lines come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tracing::Level;

use super::printable::printable;

/// Lines a second.
const RATE: u64 = 100;

/// One plugin's lines in the log.
#[derive(Debug)]
pub(super) struct Voice {
    plugin: Arc<str>,
    own: Gate,
    failures: Gate,
}

impl Voice {
    pub(super) fn new(plugin: Arc<str>) -> Self {
        Self { plugin, own: Gate::new(), failures: Gate::new() }
    }

    /// Writes a line of the plugin itself.
    pub(super) fn say(&self, level: Level, request_id: Option<&str>, message: &str) {
        if !enabled(level) {
            return;
        }
        let Some(left_out) = self.own.pass() else { return };
        let (plugin, request, message) = (&*self.plugin, request_id.unwrap_or("-"), printable(message));
        if left_out > 0 {
            tracing::warn!(target: "plugin", plugin, left_out, "plugin wrote too many lines");
        }
        match level {
            Level::ERROR => tracing::error!(target: "plugin", plugin, request, "{message}"),
            Level::WARN => tracing::warn!(target: "plugin", plugin, request, "{message}"),
            Level::INFO => tracing::info!(target: "plugin", plugin, request, "{message}"),
            Level::DEBUG => tracing::debug!(target: "plugin", plugin, request, "{message}"),
            _ => tracing::trace!(target: "plugin", plugin, request, "{message}"),
        }
    }

    /// Whether one more failure may be logged, and how many before it were not.
    pub(super) fn failure(&self) -> Option<u64> {
        self.failures.pass()
    }
}

fn enabled(level: Level) -> bool {
    match level {
        Level::ERROR => tracing::enabled!(target: "plugin", Level::ERROR),
        Level::WARN => tracing::enabled!(target: "plugin", Level::WARN),
        Level::INFO => tracing::enabled!(target: "plugin", Level::INFO),
        Level::DEBUG => tracing::enabled!(target: "plugin", Level::DEBUG),
        _ => tracing::enabled!(target: "plugin", Level::TRACE),
    }
}

/// Lets [`RATE`] lines a second through, for all threads together.
#[derive(Debug)]
struct Gate {
    start: Instant,
    /// The second since `start`, and the lines of it: 32 bits each.
    window: AtomicU64,
    left_out: AtomicU64,
}

impl Gate {
    fn new() -> Self {
        Self { start: Instant::now(), window: AtomicU64::new(0), left_out: AtomicU64::new(0) }
    }

    /// Whether a line may pass, and how many did not since the last one that did.
    fn pass(&self) -> Option<u64> {
        self.pass_at(self.start.elapsed().as_secs())
    }

    fn pass_at(&self, second: u64) -> Option<u64> {
        let next = |window: u64| {
            let (then, lines) = (window >> 32, window & 0xffff_ffff);
            if then != second & 0xffff_ffff {
                Some(second << 32 | 1)
            } else {
                (lines < RATE).then_some(window + 1)
            }
        };
        if self.window.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok() {
            Some(self.left_out.swap(0, Ordering::Relaxed))
        } else {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_limited_and_counted() {
        let gate = Gate::new();
        let passed = (0..150).filter(|_| gate.pass_at(7).is_some()).count();
        assert_eq!(passed, 100);
        assert_eq!(gate.pass_at(8), Some(50));
        assert_eq!(gate.pass_at(8), Some(0));
    }
}
