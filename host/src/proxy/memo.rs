//! What a worker worked out for an earlier request and needs again for the next: the same few clients and hosts
//! come thousands of times a second. A fixed number of places per thread, each with the last value that fell into
//! it: strangers can push values out, and never make it grow. Must not know what is remembered.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

/// Places of one memo: more than a worker has busy clients or hosts as a rule.
const PLACES: usize = 64;

/// A memo of one thread.
pub(crate) struct Memo<K, V> {
    hasher: RandomState,
    places: RefCell<[Option<(K, V)>; PLACES]>,
}

impl<K: Eq, V: Clone> Memo<K, V> {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::default(), places: RefCell::new([const { None }; PLACES]) }
    }

    /// The value of `key`: remembered, or made by `make` and remembered under the key that it gives. `make` must
    /// not come back here.
    ///
    /// # Errors
    /// Those of `make`, which are not remembered.
    pub(crate) fn value<Q, E>(&self, key: &Q, make: impl FnOnce() -> Result<(K, V), E>) -> Result<V, E>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        let mut places = self.places.borrow_mut();
        let place = places.get_mut(usize::try_from(hash % PLACES as u64).unwrap_or(0));
        if let Some(Some((known, value))) = place.as_deref()
            && (*known).borrow() == key
        {
            return Ok(value.clone());
        }
        let (key, value) = make()?;
        if let Some(place) = place {
            *place = Some((key, value.clone()));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_a_mistake_is_not_remembered() {
        let memo: Memo<Box<[u8]>, u32> = Memo::new();
        let key = b"a.test".as_slice();
        let refused: Result<u32, &str> = memo.value(key, || Err("no"));
        assert_eq!(refused, Err("no"));
        let made: Result<u32, &str> = memo.value(key, || Ok((key.into(), 7)));
        assert_eq!(made, Ok(7));
        let again: Result<u32, &str> = memo.value(key, || Err("made twice"));
        assert_eq!(again, Ok(7));
    }

    #[test]
    fn it_holds_a_fixed_number_and_never_mixes_them_up() {
        let memo: Memo<u32, u32> = Memo::new();
        for round in 0..3 {
            for key in 0..10_000 {
                let value: Result<u32, ()> = memo.value(&key, || Ok((key, key * 2)));
                assert_eq!(value, Ok(key * 2), "round {round}");
            }
        }
    }
}
