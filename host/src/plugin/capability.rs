//! What a plugin gets beyond its own request, where its manifest grants it: one file a capability. What is kept
//! is kept by the plugin's name, so that it outlives a reload. Must not know the contract's types.

pub(super) mod counter;
pub(super) mod kv;
mod shelf;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::config::model::Grants;

/// A capability of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    Kv,
    Counter,
}

impl Capability {
    const ALL: [Self; 2] = [Self::Kv, Self::Counter];

    /// By the name of its interface.
    pub(super) fn of_interface(interface: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.interface() == interface)
    }

    fn interface(self) -> &'static str {
        match self {
            Self::Kv => "kv",
            Self::Counter => "counter",
        }
    }

    /// Its key in the manifest's `grants`.
    pub fn grant(self) -> &'static str {
        match self {
            Self::Kv => "kv",
            Self::Counter => "counter",
        }
    }

    pub(super) fn is_granted(self, grants: &Grants) -> bool {
        match self {
            Self::Kv => grants.kv.is_some(),
            Self::Counter => grants.counter.is_some(),
        }
    }
}

/// What one plugin was granted.
#[derive(Debug, Default)]
pub(super) struct Capabilities {
    pub(super) kv: Option<Arc<kv::Store>>,
    pub(super) counters: Option<Arc<counter::Counters>>,
}

/// What is kept for plugins, by their names. It is gone with the last plugin of the name.
#[derive(Debug, Default)]
pub(super) struct Kept {
    kv: Mutex<HashMap<Arc<str>, Weak<kv::Store>>>,
    counters: Mutex<HashMap<Arc<str>, Weak<counter::Counters>>>,
}

impl Kept {
    /// What a plugin gets that is loaded now; with what a plugin of its name has kept so far.
    pub(super) fn grant(&self, plugin: &Arc<str>, grants: &Grants) -> Capabilities {
        Capabilities {
            kv: grants.kv.map(|bytes| {
                let store = kept(&self.kv, plugin, kv::Store::default);
                store.allow(bytes);
                store
            }),
            counters: grants.counter.map(|keys| {
                let counters = kept(&self.counters, plugin, counter::Counters::default);
                counters.allow(keys);
                counters
            }),
        }
    }
}

fn kept<T>(all: &Mutex<HashMap<Arc<str>, Weak<T>>>, plugin: &Arc<str>, make: fn() -> T) -> Arc<T> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|_, one| one.strong_count() > 0);
    if let Some(one) = all.get(plugin).and_then(Weak::upgrade) {
        return one;
    }
    let one = Arc::new(make());
    all.insert(Arc::clone(plugin), Arc::downgrade(&one));
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_that_is_loaded_again_finds_what_it_kept() {
        let kept = Kept::default();
        let grants = Grants { kv: Some(1 << 20), ..Grants::default() };
        let before = kept.grant(&"a".into(), &grants);
        before.kv.as_ref().expect("granted").set("k", b"v".to_vec(), None).expect("room");
        let after = kept.grant(&"a".into(), &grants);
        drop(before);
        assert_eq!(after.kv.as_ref().expect("granted").get("k"), Some(b"v".to_vec()));
        assert!(after.counters.is_none());
        let other = kept.grant(&"b".into(), &grants);
        assert_eq!(other.kv.as_ref().expect("granted").get("k"), None, "a store of its own");
        drop(after);
        assert_eq!(kept.grant(&"a".into(), &grants).kv.expect("granted").get("k"), None, "it went with `a`");
    }
}
