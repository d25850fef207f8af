//! Keys and bytes that outlive requests: WIT `kv`. Granted by `grants = { kv = true }` in the manifest. Must not
//! know how they are kept.
//!
//! ```
//! use std::time::Duration;
//! use edgewright_sdk::kv;
//!
//! # fn main() -> Result<(), edgewright_sdk::KvError> {
//! kv::set("session.7", b"alice", Some(Duration::from_secs(600)))?;
//! assert_eq!(kv::get("session.7").unwrap(), "alice");
//! assert_eq!(kv::increment("logins", 1, None)?, 1);
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use crate::host::kv as host;
use crate::{Bytes, KvError};

/// The value of a key; nothing where there is none, or where it has expired.
pub fn get(key: &str) -> Option<Bytes> {
    host::get(key)
}

/// Writes a value. After `ttl`, to the millisecond, the key is gone; without it, the value stays.
///
/// # Errors
/// A limit is reached: see [`KvError`].
pub fn set(key: &str, value: impl AsRef<[u8]>, ttl: Option<Duration>) -> Result<(), KvError> {
    host::set(key, value.as_ref(), millis(ttl))
}

/// Removes a key, and says whether there was one.
pub fn delete(key: &str) -> bool {
    host::delete(key)
}

/// Writes a value if the key has the value `expected` now, or is not there if that is `None`. Says whether it
/// wrote.
///
/// # Errors
/// A limit is reached: see [`KvError`].
pub fn compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: impl AsRef<[u8]>,
    ttl: Option<Duration>,
) -> Result<bool, KvError> {
    host::compare_and_set(key, expected, value.as_ref(), millis(ttl))
}

/// Adds to a decimal number, and returns the sum. A key that is not there counts as 0 and gets `ttl`; one that
/// is there keeps its own time.
///
/// # Errors
/// The value is no number, or a limit is reached: see [`KvError`].
pub fn increment(key: &str, by: i64, ttl: Option<Duration>) -> Result<i64, KvError> {
    host::increment(key, by, millis(ttl))
}

fn millis(ttl: Option<Duration>) -> Option<u64> {
    ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
}
