//! The clock of the double: stands still until a test moves it. Must not know who reads it.

use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Moves the clock of this thread's double on: what expires by then is gone from `kv` and `counter`.
///
/// ```
/// use std::time::Duration;
/// use edgewright_sdk::{kv, testing};
///
/// kv::set("a", "1", Some(Duration::from_secs(10))).unwrap();
/// testing::advance(Duration::from_secs(10));
/// assert_eq!(kv::get("a"), None);
/// ```
pub fn advance(time: Duration) {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    NOW.with(|now| now.set(now.get().saturating_add(millis)));
}

/// In milliseconds.
pub(crate) fn now() -> u64 {
    NOW.with(Cell::get)
}
