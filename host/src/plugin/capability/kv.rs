//! Keys and values of one plugin, for all its instances: WIT `kv`. Must not know which plugin.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shelf::{Millis, Shard, Shelf};

/// Bytes of a key.
const MAX_KEY: usize = 256;
/// Bytes of a value.
const MAX_VALUE: usize = 64 * 1024;
/// Longest time to live: what should live longer has none.
const MAX_TTL: Millis = 365 * 24 * 3_600 * 1_000;
/// What an entry takes beside its key and value, counted as bytes of it.
const OVERHEAD: usize = 64;
/// Entries that each write looks at for their end: more than it adds.
const SWEEP: usize = 4;
/// The same for each part, where a write finds no room.
const SWEEP_WHEN_FULL: usize = 256;

/// Why nothing was written: WIT `kv.kv-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum Refused {
    InvalidKey,
    TooLarge,
    InvalidTtl,
    Full,
    NotANumber,
}

/// One part of it, held.
type Part<'a> = MutexGuard<'a, Shard<Vec<u8>>>;

/// All that one plugin keeps.
#[derive(Debug, Default)]
pub(in crate::plugin) struct Store {
    shelf: Shelf<Vec<u8>>,
    bytes: AtomicUsize,
    limit: AtomicUsize,
}

impl Store {
    /// From now on, there is room for this many bytes. What is over it stays.
    pub(super) fn allow(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    pub(in crate::plugin) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let now = self.shelf.now();
        self.shelf.shard(key)?.live(key, now).cloned()
    }

    pub(in crate::plugin) fn set(
        &self,
        key: &str,
        value: Vec<u8>,
        ttl: Option<Millis>,
    ) -> Result<(), Refused> {
        let (now, mut shard) = self.to_write(key, &value, ttl)?;
        self.put(&mut shard, key, value, now, end(now, ttl))
    }

    pub(in crate::plugin) fn delete(&self, key: &str) -> bool {
        let now = self.shelf.now();
        let Some(mut shard) = self.shelf.shard(key) else { return false };
        let was_live = shard.live(key, now).is_some();
        if let Some(value) = shard.remove(key) {
            self.release(weight(key, &value));
        }
        was_live
    }

    pub(in crate::plugin) fn compare_and_set(
        &self,
        key: &str,
        expected: Option<&[u8]>,
        value: Vec<u8>,
        ttl: Option<Millis>,
    ) -> Result<bool, Refused> {
        let (now, mut shard) = self.to_write(key, &value, ttl)?;
        if shard.live(key, now).map(|value| value.as_slice()) != expected {
            return Ok(false);
        }
        self.put(&mut shard, key, value, now, end(now, ttl))?;
        Ok(true)
    }

    pub(in crate::plugin) fn increment(
        &self,
        key: &str,
        by: i64,
        ttl: Option<Millis>,
    ) -> Result<i64, Refused> {
        let (now, mut shard) = self.to_write(key, &[], ttl)?;
        let number = match shard.live(key, now) {
            None => 0,
            Some(value) => number(value).ok_or(Refused::NotANumber)?,
        };
        let sum = number.checked_add(by).ok_or(Refused::NotANumber)?;
        let value = sum.to_string().into_bytes();
        let end = if shard.live(key, now).is_some() { shard.end(key) } else { end(now, ttl) };
        self.put(&mut shard, key, value, now, end)?;
        Ok(sum)
    }

    fn to_write(&self, key: &str, value: &[u8], ttl: Option<Millis>) -> Result<(Millis, Part<'_>), Refused> {
        if key.is_empty() || key.len() > MAX_KEY {
            return Err(Refused::InvalidKey);
        }
        if value.len() > MAX_VALUE {
            return Err(Refused::TooLarge);
        }
        if ttl.is_some_and(|ttl| ttl == 0 || ttl > MAX_TTL) {
            return Err(Refused::InvalidTtl);
        }
        Ok((self.shelf.now(), self.shelf.shard(key).ok_or(Refused::InvalidKey)?))
    }

    fn put(
        &self,
        shard: &mut Shard<Vec<u8>>,
        key: &str,
        value: Vec<u8>,
        now: Millis,
        end: Option<Millis>,
    ) -> Result<(), Refused> {
        self.sweep(shard, now, SWEEP);
        if !self.make_room(shard, key, &value) {
            self.sweep(shard, now, SWEEP_WHEN_FULL);
            self.shelf.free_shards().for_each(|mut other| self.sweep(&mut other, now, SWEEP_WHEN_FULL));
            if !self.make_room(shard, key, &value) {
                return Err(Refused::Full);
            }
        }
        shard.put(key, value, end);
        Ok(())
    }

    /// Counts a value in the place of what the key has, if that fits.
    fn make_room(&self, shard: &Shard<Vec<u8>>, key: &str, value: &[u8]) -> bool {
        let before = shard.stored(key).map_or(0, |value| weight(key, value));
        let after = weight(key, value);
        let Some(more) = after.checked_sub(before) else {
            self.release(before - after);
            return true;
        };
        let limit = self.limit.load(Ordering::Relaxed);
        let grown = |bytes: usize| bytes.checked_add(more).filter(|bytes| more == 0 || *bytes <= limit);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok()
    }

    fn sweep(&self, shard: &mut Shard<Vec<u8>>, now: Millis, most: usize) {
        shard.sweep(now, most, |key, value| self.release(weight(key, &value)));
    }

    fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn weight(key: &str, value: &[u8]) -> usize {
    key.len() + value.len() + OVERHEAD
}

fn end(now: Millis, ttl: Option<Millis>) -> Option<Millis> {
    ttl.map(|ttl| now.saturating_add(ttl))
}

fn number(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(limit: usize) -> Store {
        let store = Store::default();
        store.allow(limit);
        store
    }

    #[test]
    fn values_are_kept_until_their_end() {
        let store = store(1 << 20);
        assert_eq!(store.set("a", b"1".to_vec(), None), Ok(()));
        assert_eq!(store.get("a"), Some(b"1".to_vec()));
        assert_eq!(store.set("b", b"2".to_vec(), Some(1)), Ok(()));
        while store.get("b").is_some() {
            std::thread::yield_now();
        }
        assert!(!store.delete("b"), "it has ended");
        assert!(store.delete("a") && !store.delete("a"));
        assert_eq!(store.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn limits() {
        let store = store(1 << 20);
        let set = |key: &str, value: usize, ttl| store.set(key, vec![0; value], ttl);
        assert_eq!(set("", 1, None), Err(Refused::InvalidKey));
        assert_eq!(set(&"k".repeat(257), 1, None), Err(Refused::InvalidKey));
        assert_eq!(set(&"k".repeat(256), 64 * 1024, None), Ok(()));
        assert_eq!(set("a", 64 * 1024 + 1, None), Err(Refused::TooLarge));
        assert_eq!(set("a", 1, Some(0)), Err(Refused::InvalidTtl));
        assert_eq!(set("a", 1, Some(MAX_TTL + 1)), Err(Refused::InvalidTtl));
        assert_eq!(store.get(""), None);
    }

    #[test]
    fn there_is_room_up_to_the_limit_and_what_has_ended_makes_room() {
        let store = store(10 * (1 + 35 + 64));
        for key in 0..10 {
            assert_eq!(store.set(&key.to_string(), vec![0; 35], None), Ok(()), "{key}");
        }
        assert_eq!(store.set("x", vec![], None), Err(Refused::Full));
        assert_eq!(store.set("0", vec![0; 35], Some(1)), Ok(()), "no larger than what it replaces");
        assert_eq!(store.set("1", vec![0; 36], None), Err(Refused::Full));
        assert_eq!(store.get("1"), Some(vec![0; 35]), "nothing has changed");
        while store.get("0").is_some() {
            std::thread::yield_now();
        }
        assert_eq!(store.set("x", vec![0; 35], None), Ok(()));
        store.allow(100);
        assert_eq!(store.set("2", vec![0; 35], None), Ok(()), "what is there stays, and may be replaced");
        assert_eq!(store.set("y", vec![], None), Err(Refused::Full));
    }

    #[test]
    fn one_of_many_wins() {
        let store = store(1 << 20);
        assert_eq!(store.compare_and_set("a", Some(b"0"), b"1".to_vec(), None), Ok(false));
        let wins = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        store.increment("n", 2, None).expect("a number");
                    }
                    if store.compare_and_set("a", None, b"1".to_vec(), None) == Ok(true) {
                        wins.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!((store.get("n"), wins.into_inner()), (Some(b"16000".to_vec()), 1));
    }

    #[test]
    fn numbers() {
        let store = store(1 << 20);
        assert_eq!(store.increment("n", -5, None), Ok(-5));
        assert_eq!(store.set("n", b"x".to_vec(), None), Ok(()));
        assert_eq!(store.increment("n", 1, None), Err(Refused::NotANumber));
        assert_eq!(store.set("n", i64::MAX.to_string().into_bytes(), None), Ok(()));
        assert_eq!(store.increment("n", 1, None), Err(Refused::NotANumber));
        assert_eq!(store.increment("m", 1, Some(1)), Ok(1));
        // It keeps the end that it got first, and begins anew then.
        while store.increment("m", 1, Some(MAX_TTL)) != Ok(1) {
            std::thread::yield_now();
        }
    }
}
