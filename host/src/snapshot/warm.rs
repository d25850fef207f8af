//! A generation made ready for its first request: instances of the plugins that have none yet. Must not know who
//! swaps it in.

use std::time::{Duration, Instant};

use crate::plugin::ConfigId;

use super::{Generation, RouteEntry};

/// For all plugins together. What is not made by then is made by the requests that need it, as it was always.
const PATIENCE: Duration = Duration::from_secs(1);

impl Generation {
    /// Makes instances of plugins that no earlier generation has left any of. Blocks for a second at the most, and
    /// the time of one instance.
    pub fn warm(&self) {
        let until = Instant::now() + PATIENCE;
        for plugin in &self.plugins {
            let chains = self.routes.iter().flat_map(RouteEntry::chains);
            let mut configs: Vec<ConfigId> = chains.flat_map(|chain| chain.configurations(plugin)).collect();
            configs.sort_unstable();
            configs.dedup();
            plugin.warm(&configs, until);
        }
    }
}
