//! What a plugin gets beyond its own request, where its manifest grants it: one file a capability. What is kept
//! is kept by the plugin's name, so that it outlives a reload. Must not know the contract's types.

pub(super) mod counter;
pub(super) mod environment;
pub(super) mod files;
pub(super) mod http;
pub(super) mod kv;
pub(super) mod metrics;
mod shelf;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use prometheus_client::registry::Registry;

pub use self::http::{Names, Surroundings};

use super::error::LoadReason;
use crate::config::model::{Grants, HttpGrant};

/// A capability of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    Kv,
    Counter,
    Metrics,
    Http,
}

impl Capability {
    const ALL: [Self; 4] = [Self::Kv, Self::Counter, Self::Metrics, Self::Http];

    /// By the name of its interface.
    pub(super) fn of_interface(interface: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.interface() == interface)
    }

    fn interface(self) -> &'static str {
        match self {
            Self::Kv => "kv",
            Self::Counter => "counter",
            Self::Metrics => "metrics",
            Self::Http => "http-client",
        }
    }

    /// Its key in the manifest's `grants`.
    pub fn grant(self) -> &'static str {
        match self {
            Self::Kv => "kv",
            Self::Counter => "counter",
            Self::Metrics => "metrics",
            Self::Http => "http",
        }
    }

    /// Whether a call of it may wait.
    pub(super) fn waits(self) -> bool {
        self == Self::Http
    }

    pub(super) fn is_granted(self, grants: &Grants) -> bool {
        match self {
            Self::Kv => grants.kv.is_some(),
            Self::Counter => grants.counter.is_some(),
            Self::Metrics => grants.metrics.is_some(),
            Self::Http => grants.http.is_some(),
        }
    }
}

/// What one plugin was granted.
#[derive(Debug, Default)]
pub(super) struct Capabilities {
    pub(super) kv: Option<Arc<kv::Store>>,
    pub(super) counters: Option<Arc<counter::Counters>>,
    /// With what it defines metrics as.
    pub(super) metrics: Option<(Arc<metrics::Meters>, metrics::Edition)>,
    pub(super) http: Option<Arc<http::Http>>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) files: files::Files,
}

/// What is kept for plugins, by their names. It is gone with the last plugin of the name.
#[derive(Debug, Default)]
pub(super) struct Kept {
    kv: Mutex<HashMap<Arc<str>, Weak<kv::Store>>>,
    counters: Mutex<HashMap<Arc<str>, Weak<counter::Counters>>>,
    meters: Mutex<HashMap<Arc<str>, Weak<metrics::Meters>>>,
    board: Arc<metrics::Board>,
    calls: http::Outcomes,
    surroundings: Mutex<Option<Arc<Surroundings>>>,
}

impl Kept {
    /// Adds what plugins count themselves, and how their calls go.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(metrics::Shown(Arc::clone(&self.board))));
        self.calls.register(registry);
    }

    /// Plugins that are loaded from now on are surrounded by these.
    pub(super) fn surround(&self, surroundings: Surroundings) {
        let mut current = self.surroundings.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(surroundings));
    }

    /// What a plugin gets that is loaded now; with what a plugin of its name has kept so far.
    ///
    /// # Errors
    /// Something that is granted is not there.
    pub(super) fn grant(&self, plugin: &Arc<str>, grants: &Grants) -> Result<Capabilities, LoadReason> {
        Ok(Capabilities {
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
            metrics: grants.metrics.map(|series| {
                let make = || metrics::Meters::new(plugin, &self.board);
                let meters = kept(&self.meters, plugin, make);
                let edition = meters.allow(series);
                (meters, edition)
            }),
            http: grants.http.as_ref().map(|grant| self.http(plugin, grant)).transpose()?.map(Arc::new),
            environment: environment::of(&grants.env)?,
            files: files::Files::new(grants.files.clone()),
        })
    }

    fn http(&self, plugin: &Arc<str>, grant: &HttpGrant) -> Result<http::Http, LoadReason> {
        let surroundings = self.surroundings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Without any, no name is known.
        let surroundings = surroundings.unwrap_or_default();
        http::Http::new(plugin, grant, &surroundings, &self.calls)
    }
}

fn kept<T>(all: &Mutex<HashMap<Arc<str>, Weak<T>>>, plugin: &Arc<str>, make: impl FnOnce() -> T) -> Arc<T> {
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
        let before = kept.grant(&"a".into(), &grants).expect("granted");
        before.kv.as_ref().expect("granted").set("k", b"v".to_vec(), None).expect("room");
        let after = kept.grant(&"a".into(), &grants).expect("granted");
        drop(before);
        assert_eq!(after.kv.as_ref().expect("granted").get("k"), Some(b"v".to_vec()));
        assert!(after.counters.is_none());
        let other = kept.grant(&"b".into(), &grants).expect("granted");
        assert_eq!(other.kv.as_ref().expect("granted").get("k"), None, "a store of its own");
        drop(after);
        assert_eq!(
            kept.grant(&"a".into(), &grants).expect("granted").kv.expect("granted").get("k"),
            None,
            "it went with `a`"
        );
    }
}
