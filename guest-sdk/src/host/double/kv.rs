//! The double of `kv`: what this thread's plugins keep, by the rules of `wit/kv.wit`. Must not know who does.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::testing::clock;
use crate::{Bytes, KvError};

const MAX_KEY: usize = 256;
const MAX_VALUE: usize = 64 * 1024;
const MAX_TTL: u64 = 365 * 24 * 3_600 * 1_000;
const MAX_BYTES: usize = 1024 * 1024;
const OVERHEAD: usize = 64;

type Entries = BTreeMap<String, (Vec<u8>, Option<u64>)>;

thread_local! {
    static ENTRIES: RefCell<Entries> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn get(key: &str) -> Option<Bytes> {
    with(|entries| entries.get(key).map(|(value, _)| Bytes::from(value.as_slice())))
}

pub(crate) fn set(key: &str, value: &[u8], ttl: Option<u64>) -> Result<(), KvError> {
    check(key, value, ttl)?;
    with(|entries| put(entries, key, value, end(ttl)))
}

pub(crate) fn delete(key: &str) -> bool {
    with(|entries| entries.remove(key).is_some())
}

pub(crate) fn compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: &[u8],
    ttl: Option<u64>,
) -> Result<bool, KvError> {
    check(key, value, ttl)?;
    with(|entries| {
        if entries.get(key).map(|(value, _)| value.as_slice()) != expected {
            return Ok(false);
        }
        put(entries, key, value, end(ttl)).map(|()| true)
    })
}

pub(crate) fn increment(key: &str, by: i64, ttl: Option<u64>) -> Result<i64, KvError> {
    check(key, &[], ttl)?;
    with(|entries| {
        let (number, end) = match entries.get(key) {
            None => (Some(0), end(ttl)),
            Some((value, end)) => {
                (std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok()), *end)
            }
        };
        let sum = number.and_then(|number| number.checked_add(by)).ok_or(KvError::NotANumber)?;
        put(entries, key, sum.to_string().as_bytes(), end).map(|()| sum)
    })
}

/// The entries that have not expired.
fn with<T>(ask: impl FnOnce(&mut Entries) -> T) -> T {
    ENTRIES.with(|entries| {
        let mut entries = entries.borrow_mut();
        entries.retain(|_, (_, end)| end.is_none_or(|end| clock::now() < end));
        ask(&mut entries)
    })
}

fn put(entries: &mut Entries, key: &str, value: &[u8], end: Option<u64>) -> Result<(), KvError> {
    let weight = |key: &str, value: &[u8]| key.len() + value.len() + OVERHEAD;
    let others = entries.iter().filter(|(name, _)| *name != key);
    let kept: usize = others.map(|(key, (value, _))| weight(key, value)).sum();
    if kept + weight(key, value) > MAX_BYTES {
        return Err(KvError::Full);
    }
    entries.insert(key.to_owned(), (value.to_vec(), end));
    Ok(())
}

fn check(key: &str, value: &[u8], ttl: Option<u64>) -> Result<(), KvError> {
    if key.is_empty() || key.len() > MAX_KEY {
        Err(KvError::InvalidKey)
    } else if value.len() > MAX_VALUE {
        Err(KvError::TooLarge)
    } else if ttl.is_some_and(|ttl| ttl == 0 || ttl > MAX_TTL) {
        Err(KvError::InvalidTtl)
    } else {
        Ok(())
    }
}

fn end(ttl: Option<u64>) -> Option<u64> {
    ttl.map(|ttl| clock::now().saturating_add(ttl))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::advance;
    use crate::{KvError, kv};

    #[test]
    fn the_double_holds_to_the_contract() {
        let second = Some(Duration::from_secs(1));
        assert_eq!(kv::set("", "", None), Err(KvError::InvalidKey));
        assert_eq!(kv::set("a", vec![0; 64 * 1024 + 1], None), Err(KvError::TooLarge));
        assert_eq!(kv::set("a", "1", Some(Duration::ZERO)), Err(KvError::InvalidTtl));
        assert_eq!(kv::compare_and_set("a", Some(b"0"), "1", None), Ok(false));
        assert_eq!(kv::compare_and_set("a", None, "x", second), Ok(true));
        assert_eq!(kv::increment("a", 1, None), Err(KvError::NotANumber));
        assert_eq!(kv::increment("n", 41, second), Ok(41));
        assert_eq!(kv::increment("n", 1, None), Ok(42));
        assert_eq!(kv::get("n").unwrap(), "42");
        advance(Duration::from_secs(1));
        assert_eq!((kv::get("a"), kv::get("n"), kv::delete("n")), (None, None, false));
        for key in 0..15 {
            assert_eq!(kv::set(&key.to_string(), vec![0; 64 * 1024], None), Ok(()));
        }
        assert_eq!(kv::set("15", vec![0; 64 * 1024], None), Err(KvError::Full));
        assert!(kv::delete("0"));
    }
}
