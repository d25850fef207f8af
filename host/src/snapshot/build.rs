//! Builds a generation: loads the plugins of a configuration, tells them their configurations, puts chains
//! to routes. All that can be wrong with a plugin is found here, before a request meets it.

use std::collections::HashSet;
use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value};

use crate::config::codes;
use crate::config::diagnostic::{Diagnostic, Place};
use crate::config::model::{Action, Config, Plugin as PluginModel, Route};
use crate::ids::{PluginId, UpstreamId};
use crate::listener::{CannotServe, Listeners};
use crate::plugin::exchange::UpstreamNames;
use crate::plugin::{Chain, ConfigId, ConfigureError, Engine, LoadError, Plugin, PluginSpec};
use crate::route::RouteTable;
use crate::upstream::Upstreams;

use super::metrics::Families;
use super::{Generation, Policy, RouteEntry, RouteRollout, carry_over, surroundings};

/// Why a generation could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A component can't be loaded.
    #[error("{source}")]
    Load {
        /// Where the configuration names it.
        place: Option<Place>,
        #[source]
        source: LoadError,
    },
    /// A plugin does not take a route's configuration.
    #[error("route `{route}`: {source}")]
    Configure {
        route: Arc<str>,
        place: Option<Place>,
        #[source]
        source: ConfigureError,
    },
    /// A listener's TLS can't be put together.
    #[error(transparent)]
    Listener(#[from] CannotServe),
}

impl Failure {
    /// The mistake, at the place where the configuration names it.
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, place, help) = match self {
            Failure::Load { place, source, .. } => (codes::PLUGIN_LOAD, place, source.reason.help()),
            Failure::Configure { place, .. } => (codes::PLUGIN_CONFIGURE, place, None),
            Failure::Listener(_) => (codes::BAD_CERTIFICATE, &None, None),
        };
        let diagnostic = Diagnostic::error(code, self.to_string()).at(place.clone());
        match help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}

/// Builds generations with one engine and one set of metrics.
pub struct Builder {
    engine: Engine,
    families: Families,
    built: u64,
}

struct Names(Arc<Upstreams>);

impl UpstreamNames for Names {
    fn id(&self, name: &str) -> Option<UpstreamId> {
        self.0.id(name)
    }
}

impl Builder {
    pub fn new(engine: Engine, registry: &mut Registry) -> Self {
        engine.register(registry);
        Self { engine, families: Families::register(registry), built: 0 }
    }

    /// Loads, checks and puts together. What is the same in an earlier generation is taken over from it.
    ///
    /// # Errors
    /// Every plugin that can't be loaded and every configuration that is refused.
    pub fn build(
        &mut self,
        config: &Config,
        upstreams: Arc<Upstreams>,
        earlier: Option<&Generation>,
    ) -> Result<Generation, Vec<Failure>> {
        self.engine.surround(surroundings::of(config));
        let mut failures = Vec::new();
        let mut plugins = Vec::with_capacity(config.plugins.len());
        for (index, model) in config.plugins.iter().enumerate() {
            match carry_over::plugin(&self.engine, earlier, &plugin_spec(model), config, PluginId::at(index))
            {
                Ok(plugin) => plugins.push(Some(plugin)),
                Err(source) => {
                    plugins.push(None);
                    failures.push(Failure::Load { place: model.place.clone(), source });
                }
            }
        }
        let mut routes = Vec::with_capacity(config.routes.len());
        let mut refused = HashSet::new();
        for route in &config.routes {
            let mut links = Vec::with_capacity(route.chain.len());
            let mut rollout = None;
            let mut link = |id: PluginId, config: &Map<String, Value>, place: &Option<Place>| {
                // One that was not loaded has been reported.
                let plugin = plugins.get(id.index())?.as_ref()?;
                match configure(plugin, id, config, &mut refused) {
                    Ok(config) => return Some((Arc::clone(plugin), config)),
                    Err(Some(source)) => failures.push(Failure::Configure {
                        route: Arc::clone(&route.name),
                        place: place.clone(),
                        source,
                    }),
                    Err(None) => {}
                }
                None
            };
            for used in &route.chain {
                let Some(stable) = link(used.plugin, &used.config, &used.place) else { continue };
                if let Some(model) = &used.rollout
                    && let Some(candidate) = link(model.plugin, &model.config, &model.place)
                {
                    let state = carry_over::rollout(earlier, &route.name, &stable.0, &candidate.0, model);
                    rollout = Some((links.len(), candidate, state));
                }
                links.push(stable);
            }
            let rollout = rollout.map(|(at, candidate, state)| {
                let mut links = links.clone();
                if let Some(link) = links.get_mut(at) {
                    *link = candidate;
                }
                RouteRollout { chain: Chain::new(links), state }
            });
            routes.push(RouteEntry {
                name: Arc::clone(&route.name),
                chain: Chain::new(links),
                rollout,
                action: route.action.clone(),
                edits: (!route.edits.is_empty()).then(|| route.edits.clone()),
                max_body: route.max_body,
                mirror: route.mirror.as_ref().map(|mirror| self.families.mirror(&route.name, mirror)),
                timeouts: (!route.timeouts.is_empty()).then_some(route.timeouts),
                grpc_web: route.grpc_web,
                logged: route.logged,
                shares: self.shares(config, route),
                metrics: self.families.of(&route.name),
            });
        }
        let listeners = Listeners::build(&config.listeners).unwrap_or_else(|failure| {
            failures.push(failure.into());
            Listeners::default()
        });
        if !failures.is_empty() {
            return Err(failures);
        }
        self.built += 1;
        Ok(Generation {
            number: self.built,
            table: RouteTable::build(&config.routes),
            routes,
            plugins: plugins.into_iter().flatten().collect(),
            upstream_names: Arc::new(Names(Arc::clone(&upstreams))),
            upstreams,
            policy: Policy::of(&config.server),
            listeners,
            shown: config.shown.clone(),
            access_log: None,
            log_attributes: config.access_log.as_ref().map(|log| log.attributes.clone()).unwrap_or_default(),
            unrouted: self.families.of(""),
        })
    }

    /// Shows the rollouts of the generation that serves, and no others.
    pub fn show_rollouts(&self, generation: &Generation) {
        let rollouts = generation.routes.iter().filter_map(|route| {
            let rollout = route.rollout.as_ref()?;
            Some((&*route.name, &*rollout.state))
        });
        self.families.show_rollouts(rollouts);
    }

    /// Takes the metrics of plugins and routes away that no generation has any more.
    pub fn forget<'a>(
        &self,
        plugins: impl IntoIterator<Item = &'a Arc<str>>,
        routes: impl IntoIterator<Item = &'a Arc<str>>,
    ) {
        plugins.into_iter().for_each(|plugin| self.engine.forget(plugin));
        routes.into_iter().for_each(|route| self.families.forget(route));
    }
}

impl Builder {
    fn shares(&self, config: &Config, route: &Route) -> Vec<Counter> {
        let Action::Split(split) = &route.action else { return Vec::new() };
        let name = |id: UpstreamId| config.upstreams.get(id.index()).map_or("", |upstream| &upstream.name);
        split.shares.iter().map(|share| self.families.share(&route.name, name(share.upstream))).collect()
    }
}

/// Tells a plugin one configuration. A configuration that several routes share is refused once: `Err(None)`
/// for the others.
fn configure(
    plugin: &Arc<Plugin>,
    id: PluginId,
    config: &Map<String, Value>,
    refused: &mut HashSet<(PluginId, String)>,
) -> Result<ConfigId, Option<ConfigureError>> {
    let key = || (id, Value::Object(config.clone()).to_string());
    if !refused.is_empty() && refused.contains(&key()) {
        return Err(None);
    }
    plugin.configure(config).map_err(|error| {
        refused.insert(key());
        Some(error)
    })
}

/// What is to be loaded for a plugin of the configuration.
pub fn plugin_spec(model: &PluginModel) -> PluginSpec {
    PluginSpec {
        name: Arc::clone(&model.name),
        file: model.file.clone(),
        isolation: model.manifest.isolation,
        on_failure: model.manifest.on_failure,
        limits: model.manifest.limits,
        quarantine: model.manifest.quarantine,
        grants: model.manifest.grants.clone(),
        body: model.manifest.body,
        sha256: model.manifest.sha256.clone(),
    }
}
