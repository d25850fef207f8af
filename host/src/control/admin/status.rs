//! `/status`: what runs, as JSON. Knows the shape of the answer, nothing else.

mod plugin;
mod rollout;

use serde::Serialize;

use crate::control::health::State;
use crate::control::reload::Report;
use crate::snapshot::Generation;
use crate::upstream::{PeerStatus, Upstream};

use self::plugin::PluginStatus;
use self::rollout::RolloutStatus;
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
    listeners: Vec<String>,
    routes: Vec<RouteStatus<'a>>,
    plugins: Vec<PluginStatus<'a>>,
    upstreams: Vec<UpstreamStatus<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct RouteStatus<'a> {
    name: &'a str,
    plugins: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rollout: Option<RolloutStatus<'a>>,
    /// An upstream, or what the route does in its place.
    action: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct UpstreamStatus<'a> {
    name: &'a str,
    /// Peers to which requests go.
    healthy: usize,
    peers: Vec<Peer>,
    /// Left out: they are the proxy itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    own_addresses: Vec<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Names of its configuration that stand for no peer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved: Vec<Unresolved>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Unresolved {
    name: String,
    reason: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Peer {
    address: String,
    weight: u16,
    healthy: bool,
    /// Why requests pass it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// For how long yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    ejected_ms: Option<u64>,
    in_flight: usize,
    requests: u64,
    failures: u64,
    ejections: u64,
}

impl From<PeerStatus> for Peer {
    fn from(status: PeerStatus) -> Self {
        Self {
            address: status.address,
            weight: status.weight,
            healthy: status.healthy,
            reason: status.reason,
            ejected_ms: status.ejected_for.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            in_flight: status.in_flight,
            requests: status.requests,
            failures: status.failures,
            ejections: status.ejections,
        }
    }
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
            listeners: generation.listeners.addresses().map(|address| address.to_string()).collect(),
            routes: generation
                .routes
                .iter()
                .map(|route| RouteStatus {
                    name: &route.name,
                    plugins: route.chain.plugins().map(|plugin| plugin.name()).collect(),
                    rollout: route.rollout.as_ref().map(|rollout| RolloutStatus::of(&rollout.state)),
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
        let peers: Vec<Peer> = upstream.peers().iter().map(|peer| peer.status().into()).collect();
        let healthy = peers.iter().filter(|peer| peer.healthy).count();
        let reason = upstream.absence().map(|why| why.to_string());
        let own_addresses = upstream.own_addresses().iter().map(ToString::to_string).collect();
        let unresolved = upstream.unresolved().into_iter();
        let unresolved =
            unresolved.map(|(name, why)| Unresolved { name: name.to_string(), reason: why.name() }).collect();
        Self { name: upstream.name(), healthy, peers, own_addresses, reason, unresolved }
    }
}
