//! What a generation takes over from the one before it: plugins whose file and manifest are the same, with their
//! instances and all that is known of them. Knows no files: whether one is the same, the plugin says.

use std::sync::Arc;

use crate::config::model::Config;
use crate::ids::PluginId;
use crate::plugin::{Engine, LoadError, Plugin, PluginSpec};

use super::Generation;

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
    let wanted: Vec<_> = uses.filter(|used| used.plugin == id).map(|used| &used.config).collect();
    known.load_anew(engine, spec, &wanted)
}
