//! Where `plugin test` and `plugin bench` run a plugin: the real host, with the manifest beside the file, and no
//! socket. Must not know what is asked of it.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::config::model::Isolation;
use crate::config::{self, ProxyFlags};
use crate::ids::UpstreamId;
use crate::plugin::exchange::UpstreamNames;
use crate::plugin::{Chain, Compiler, Engine, EngineOptions, Plugin, Ticking};
use crate::snapshot::{self, Policy};

use super::super::{mistake, mistakes};

/// A plugin that is ready to be called.
pub(super) struct Stage {
    pub(super) plugin: Arc<Plugin>,
    pub(super) policy: Policy,
    pub(super) upstreams: Arc<dyn UpstreamNames>,
    pub(super) runtime: tokio::runtime::Runtime,
    /// The manifest's.
    config: Map<String, Value>,
    _ticking: Ticking,
}

/// The upstreams that there are said to be.
struct Names(HashMap<String, UpstreamId>);

impl UpstreamNames for Names {
    fn id(&self, name: &str) -> Option<UpstreamId> {
        self.0.get(name).copied()
    }
}

impl Stage {
    /// Loads a plugin; `isolation` takes the place of the manifest's.
    ///
    /// # Errors
    /// The exit code, after what is wrong was printed.
    pub(super) fn set(
        file: &Path,
        upstreams: &[String],
        isolation: Option<Isolation>,
    ) -> Result<Self, ExitCode> {
        // The checks of `edgewright proxy` are those of a file and its manifest; nothing is sent there.
        let flags =
            ProxyFlags { to: "127.0.0.1:1".to_owned(), plugins: vec![file.to_owned()], ..Default::default() };
        let checked = config::for_proxy(&flags).map_err(|found| mistakes(&found))?;
        let model = checked.config.plugins.first().ok_or_else(|| mistake("there is no plugin"))?;
        let mut spec = snapshot::plugin_spec(model);
        spec.isolation = isolation.unwrap_or(spec.isolation);
        // A case that makes the plugin trap is no reason to leave it out.
        spec.quarantine.failures = None;
        let options = EngineOptions {
            workers: NonZeroUsize::MIN,
            cache: checked.config.plugin_cache.clone(),
            compiler: Compiler::Child,
        };
        let engine = Engine::new(&options).map_err(|error| mistake(&error.to_string()))?;
        let plugin = Plugin::load(&engine, &spec).map_err(|error| {
            let help = error.reason.help().map(|help| format!("; {help}")).unwrap_or_default();
            mistake(&format!("{error}{help}"))
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let names = upstreams.iter().enumerate();
        Ok(Self {
            plugin,
            policy: Policy::of(&checked.config.server),
            upstreams: Arc::new(Names(names.map(|(at, name)| (name.clone(), UpstreamId::at(at))).collect())),
            runtime: runtime.map_err(|error| mistake(&format!("no runtime: {error}")))?,
            config: model.manifest.config.clone(),
            _ticking: engine.ticker().start().map_err(|error| mistake(&format!("no thread: {error}")))?,
        })
    }

    /// A chain of the plugin alone, with a configuration over the manifest's: later ones win.
    ///
    /// # Errors
    /// The plugin refuses it.
    pub(super) fn chain(&self, configs: &[&toml::Table]) -> Result<Chain, String> {
        let mut merged = self.config.clone();
        for config in configs {
            let object = serde_json::to_value(config).map_err(|error| error.to_string())?;
            if let Value::Object(object) = object {
                merged.extend(object);
            }
        }
        let config = self.plugin.configure(&merged).map_err(|error| error.to_string())?;
        Ok(Chain::new(vec![(Arc::clone(&self.plugin), config)]))
    }
}
