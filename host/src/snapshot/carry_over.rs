//! What a generation takes over from the one before it: plugins whose file and manifest are the same, with their
//! instances and all that is known of them. Knows no files: whether one is the same, the plugin says.

use std::sync::Arc;

use crate::config::model::{Config, Rollout as RolloutModel};
use crate::ids::PluginId;
use crate::plugin::{Engine, LoadError, Plugin, PluginSpec};

use super::{Generation, Rollout};

/// The plugin of `spec`, which has the id `id` in `config`: the earlier one where that serves, or a new one.
///
/// # Errors
/// It can't be loaded.
pub(super) fn plugin(
    engine: &Engine,
    earlier: Option<&Generation>,
    spec: &PluginSpec,
    config: &Config,
    id: PluginId,
) -> Result<Arc<Plugin>, LoadError> {
    let known =
        earlier.and_then(|generation| generation.plugins.iter().find(|plugin| plugin.name() == &*spec.name));
    let Some(known) = known else { return Plugin::load(engine, spec) };
    let uses = config.routes.iter().flat_map(|route| &route.chain);
    let wanted: Vec<_> = uses
        .flat_map(|used| {
            let rollout = used.rollout.as_ref().map(|rollout| (rollout.plugin, &rollout.config));
            [(used.plugin, &used.config)].into_iter().chain(rollout)
        })
        .filter(|(plugin, _)| *plugin == id)
        .map(|(_, config)| config)
        .collect();
    known.load_anew(engine, spec, &wanted)
}

/// The rollout of a route: the earlier one where its terms and its plugins are the same, so that one that was rolled back
/// stays so, or a new one.
pub(super) fn rollout(
    earlier: Option<&Generation>,
    route: &str,
    plugin: &Arc<Plugin>,
    candidate: &Arc<Plugin>,
    model: &RolloutModel,
) -> Arc<Rollout> {
    let known = earlier.and_then(|generation| generation.routes.iter().find(|entry| &*entry.name == route));
    match known.and_then(|entry| entry.rollout.as_ref()) {
        Some(known) if known.state.is(plugin.name(), candidate, model) => Arc::clone(&known.state),
        _ => Arc::new(Rollout::new(plugin.shared_name(), candidate, model)),
    }
}
