//! Earlier generations, until the last request that began in them ends. They are dropped here and not on the worker
//! that happens to have that request: what is in them takes a while to take down. Knows nothing of how
//! generations are made.

use std::collections::HashSet;
use std::sync::Arc;

use crate::config::model::Config;
use crate::snapshot::Generation;

/// The generations that still serve a request.
#[derive(Default)]
pub(super) struct Draining(Vec<Arc<Generation>>);

/// Names of plugins and routes: what metrics are counted by.
#[derive(Debug, Default)]
pub(super) struct Names {
    plugins: HashSet<Arc<str>>,
    routes: HashSet<Arc<str>>,
}

impl Draining {
    /// A generation that new requests no longer get.
    pub(super) fn add(&mut self, generation: Arc<Generation>) {
        self.0.push(generation);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Generation> {
        self.0.iter().map(|generation| &**generation)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes down those whose last request is over, and says what was in them.
    pub(super) fn sweep(&mut self) -> Names {
        let mut names = Names::default();
        self.0.retain(|generation| {
            // Nobody who has none can get one any more: that this one is the last can't change back.
            let used = Arc::strong_count(generation) > 1;
            if !used {
                tracing::debug!(generation = generation.number, "generation is taken down");
                names.plugins.extend(plugins(generation));
                names.routes.extend(routes(generation));
            }
            used
        });
        names
    }
}

impl Names {
    /// Those of a configuration.
    pub(super) fn of_config(config: &Config) -> Self {
        Self {
            plugins: config.plugins.iter().map(|plugin| Arc::clone(&plugin.name)).collect(),
            routes: config.routes.iter().map(|route| Arc::clone(&route.name)).collect(),
        }
    }

    /// Without those that one of these generations has.
    pub(super) fn keep_unused<'a>(&mut self, live: impl IntoIterator<Item = &'a Generation>) {
        if self.plugins.is_empty() && self.routes.is_empty() {
            return;
        }
        for generation in live {
            self.plugins.retain(|name| generation.plugins.iter().all(|plugin| plugin.name() != &**name));
            self.routes.retain(|name| generation.routes.iter().all(|route| route.name != *name));
        }
    }

    pub(super) fn plugins(&self) -> impl Iterator<Item = &Arc<str>> {
        self.plugins.iter()
    }

    pub(super) fn routes(&self) -> impl Iterator<Item = &Arc<str>> {
        self.routes.iter()
    }
}

fn plugins(generation: &Generation) -> impl Iterator<Item = Arc<str>> {
    generation.plugins.iter().map(|plugin| Arc::clone(plugin.shared_name()))
}

fn routes(generation: &Generation) -> impl Iterator<Item = Arc<str>> {
    generation.routes.iter().map(|route| Arc::clone(&route.name))
}
