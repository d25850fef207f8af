//! A map by text that many threads share, with entries that end: a lock for each part of it, held for a moment.
//! What has ended is taken out as others are put in, a little each time. Must not know what is kept.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Parts of the map: more than a machine has threads that would meet.
const SHARDS: usize = 64;

/// Milliseconds on the monotonic clock since the shelf was made.
pub(super) type Millis = u64;

/// The map.
#[derive(Debug)]
pub(super) struct Shelf<V> {
    shards: Vec<Mutex<Shard<V>>>,
    /// Keyed anew in each process: keys may be a client's choice.
    hasher: RandomState,
    start: Instant,
}

/// One part of it.
#[derive(Debug)]
pub(super) struct Shard<V> {
    entries: HashMap<Arc<str>, Entry<V>>,
    /// When to look at which entry: never after its end, and once an entry.
    agenda: BTreeSet<(Millis, Arc<str>)>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    /// The first moment at which it is no more.
    end: Option<Millis>,
    /// Its place in the agenda.
    due: Option<Millis>,
}

impl<V> Default for Shelf<V> {
    fn default() -> Self {
        let empty = || Mutex::new(Shard { entries: HashMap::new(), agenda: BTreeSet::new() });
        Self {
            shards: std::iter::repeat_with(empty).take(SHARDS).collect(),
            hasher: RandomState::new(),
            start: Instant::now(),
        }
    }
}

impl<V> Shelf<V> {
    pub(super) fn now(&self) -> Millis {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// The part that a key belongs to; nothing only if there were no parts.
    pub(super) fn shard(&self, key: &str) -> Option<MutexGuard<'_, Shard<V>>> {
        let index = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        self.shards.get(index).map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The parts that nobody holds right now, one after the other. Fine while a part is held.
    pub(super) fn free_shards(&self) -> impl Iterator<Item = MutexGuard<'_, Shard<V>>> {
        self.shards.iter().filter_map(|shard| shard.try_lock().ok())
    }
}

impl<V> Shard<V> {
    /// What a key has, unless it has ended.
    pub(super) fn live(&mut self, key: &str, now: Millis) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        entry.end.is_none_or(|end| now < end).then_some(&mut entry.value)
    }

    /// What a key has, even if it has ended.
    pub(super) fn stored(&self, key: &str) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// When a key ends.
    pub(super) fn end(&self, key: &str) -> Option<Millis> {
        self.entries.get(key)?.end
    }

    /// Puts a value in, and gives what was there before.
    pub(super) fn put(&mut self, key: &str, value: V, end: Option<Millis>) -> Option<V> {
        let before = self.remove(key);
        let key: Arc<str> = key.into();
        if let Some(end) = end {
            self.agenda.insert((end, Arc::clone(&key)));
        }
        self.entries.insert(key, Entry { value, end, due: end });
        before
    }

    /// Moves the end of an entry that is there to a later moment.
    pub(super) fn prolong(&mut self, key: &str, end: Millis) {
        if let Some(entry) = self.entries.get_mut(key) {
            // Its place in the agenda stays: when that is due, it is looked at again.
            entry.end = entry.end.map(|before| before.max(end));
        }
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, key: &str) -> Option<V> {
        let (key, entry) = self.entries.remove_entry(key)?;
        if let Some(due) = entry.due {
            self.agenda.remove(&(due, key));
        }
        Some(entry.value)
    }

    /// Takes out what has ended, looking at `most` entries.
    pub(super) fn sweep(&mut self, now: Millis, most: usize, mut gone: impl FnMut(&str, V)) {
        for _ in 0..most {
            let Some((due, _)) = self.agenda.first() else { return };
            if *due > now {
                return;
            }
            let Some((_, key)) = self.agenda.pop_first() else { return };
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            match entry.end.filter(|end| *end > now) {
                Some(later) => {
                    entry.due = Some(later);
                    self.agenda.insert((later, key));
                }
                None => {
                    if let Some(entry) = self.entries.remove(&key) {
                        gone(&key, entry.value);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(shard: &mut Shard<u8>, now: Millis, most: usize) -> Vec<u8> {
        let mut gone = Vec::new();
        shard.sweep(now, most, |_, value| gone.push(value));
        gone
    }

    #[test]
    fn what_has_ended_is_gone() {
        let shelf = Shelf::default();
        let mut shard = shelf.shard("any").expect("a part");
        shard.put("a", 1, Some(10));
        shard.put("b", 2, Some(20));
        shard.put("c", 3, None);
        assert_eq!(shard.live("a", 9), Some(&mut 1));
        assert_eq!(shard.live("a", 10), None);
        assert_eq!(shard.stored("a"), Some(&1), "not swept yet");
        shard.prolong("b", 40);
        assert_eq!(swept(&mut shard, 30, 10), [1], "`b` was prolonged");
        assert_eq!(shard.live("b", 39), Some(&mut 2));
        assert_eq!(swept(&mut shard, 40, 10), [2]);
        assert_eq!(shard.live("c", Millis::MAX), Some(&mut 3));
        assert!(shard.agenda.is_empty());
    }

    #[test]
    fn what_is_replaced_or_removed_leaves_nothing_behind() {
        let shelf = Shelf::default();
        let mut shard = shelf.shard("any").expect("a part");
        assert_eq!(shard.put("a", 1, Some(10)), None);
        assert_eq!(shard.put("a", 2, Some(5)), Some(1));
        assert_eq!(shard.remove("a"), Some(2));
        assert_eq!(shard.remove("a"), None);
        assert!(shard.agenda.is_empty() && shard.entries.is_empty());
        for number in 0..10 {
            shard.put(&number.to_string(), number, Some(1));
        }
        assert_eq!(swept(&mut shard, 1, 3).len(), 3, "a little at a time");
    }
}
