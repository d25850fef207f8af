//! `/status`: what runs, as JSON. Knows the shape of the answer, nothing else.

mod plugin;

use serde::Serialize;

use crate::control::health::State;
use crate::control::reload::Report;
use crate::snapshot::Generation;
use crate::upstream::Upstream;

use self::plugin::PluginStatus;
use super::Facts;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Status<'a> {
    version: &'static str,
    state: &'static str,
    uptime_seconds: u64,
    /// Counts up with each configuration that was taken.
    generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_reload: Option<&'a Report>,
    workers: usize,
    workers_reason: &'a str,
    listeners: &'a [String],
    routes: Vec<RouteStatus<'a>>,
    plugins: Vec<PluginStatus<'a>>,
    upstreams: Vec<UpstreamStatus<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct RouteStatus<'a> {
    name: &'a str,
    plugins: Vec<&'a str>,
    /// An upstream, or what the route does in its place.
    action: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct UpstreamStatus<'a> {
    name: &'a str,
    peers: Vec<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> Status<'a> {
    pub(super) fn of(
        facts: &'a Facts,
        state: State,
        generation: &'a Generation,
        last_reload: Option<&'a Report>,
    ) -> Self {
        Self {
            version: facts.version,
            state: state.name(),
            uptime_seconds: facts.started.elapsed().as_secs(),
            generation: generation.number,
            last_reload,
            workers: facts.workers,
            workers_reason: &facts.workers_reason,
            listeners: &facts.listeners,
            routes: generation
                .routes
                .iter()
                .map(|route| RouteStatus {
                    name: &route.name,
                    plugins: route.chain.plugins().map(|plugin| plugin.name()).collect(),
                    action: route.action.told(|id| Some(&**generation.upstreams.get(id)?.name())),
                })
                .collect(),
            plugins: generation.plugins.iter().map(|plugin| PluginStatus::of(plugin)).collect(),
            upstreams: generation.upstreams.iter().map(|upstream| UpstreamStatus::of(upstream)).collect(),
        }
    }
}

impl<'a> UpstreamStatus<'a> {
    fn of(upstream: &'a Upstream) -> Self {
        let peers: Vec<_> = upstream.peers().iter().map(|peer| peer.address.to_string()).collect();
        let reason =
            if peers.is_empty() { upstream.pick(&[]).err().map(|why| why.to_string()) } else { None };
        Self { name: upstream.name(), peers, reason }
    }
}
