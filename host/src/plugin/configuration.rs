//! The distinct configurations of one plugin. Equal ones share an id; an instance is told each once, before
//! the first call that carries it. Must not know routes.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

/// One distinct configuration of a plugin: WIT `types.config-id`. From 0 upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigId(u32);

impl ConfigId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// The configurations that a plugin has taken.
#[derive(Debug, Default)]
pub(super) struct Configurations(RwLock<Vec<Configuration>>);

#[derive(Debug)]
struct Configuration {
    object: Map<String, Value>,
    json: Arc<str>,
}

impl Configurations {
    /// The id of an equal configuration, whatever the order of its keys.
    pub(super) fn find(&self, object: &Map<String, Value>) -> Option<ConfigId> {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let index = list.iter().position(|known| known.object == *object)?;
        u32::try_from(index).ok().map(ConfigId)
    }

    /// The id that the next configuration will have.
    pub(super) fn next(&self) -> ConfigId {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ConfigId(u32::try_from(list.len()).unwrap_or(u32::MAX))
    }

    /// Adds a configuration that the plugin took, or finds that another thread did.
    pub(super) fn add(&self, object: Map<String, Value>, json: String) -> ConfigId {
        let mut list = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let index = list.iter().position(|known| known.object == object).unwrap_or_else(|| {
            list.push(Configuration { object, json: json.into() });
            list.len() - 1
        });
        ConfigId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// How many of them are not among these.
    pub(super) fn stale_beside(&self, wanted: &[&Map<String, Value>]) -> usize {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter(|known| !wanted.contains(&&known.object)).count()
    }

    /// The JSON text of a configuration.
    pub(super) fn json(&self, id: ConfigId) -> Option<Arc<str>> {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        list.get(id.index()).map(|known| Arc::clone(&known.json))
    }
}
