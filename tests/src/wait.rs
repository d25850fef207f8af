//! Waiting for a condition with a deadline: the only way in which tests wait.

use std::time::{Duration, Instant};

/// How long anything may take before a test fails: far more than it takes on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Between two looks at the condition.
const STEP: Duration = Duration::from_millis(2);

/// Waits until `condition` holds.
///
/// # Panics
/// It still doesn't hold after `deadline`; `what` says what was waited for.
pub fn wait_for(deadline: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let _: () = value_within(deadline, what, || condition().then_some(()));
}

/// Waits until `probe` finds something, and returns it.
///
/// # Panics
/// It still found nothing after [`DEADLINE`].
pub fn wait_for_value<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    value_within(DEADLINE, what, probe)
}

fn value_within<T>(deadline: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(start.elapsed() < deadline, "waited {deadline:?} in vain for {what}");
        std::thread::sleep(STEP);
    }
}
