//! A generation: one immutable snapshot of routes, chains and upstreams. Requests pin the one they began
//! with. Knows no files and no sockets.

mod build;
mod carry_over;
mod metrics;
mod mirror;
mod rollout;
mod surroundings;
mod warm;

use std::sync::Arc;

use http::HeaderName;
use ipnet::IpNet;
use prometheus_client::metrics::counter::Counter;

use crate::config::model::{
    Action, ClientLimits, Edits, RouteTimeouts, Server, ServerTiming, TraceContext, UnderscoreHeaders,
};
use crate::listener::Listeners;
use crate::observe::access_log::AccessLog;
use crate::plugin::exchange::UpstreamNames;
use crate::plugin::{Chain, Plugin};
use crate::route::RouteTable;
use crate::upstream::Upstreams;

pub use build::{Builder, Failure, plugin_spec};
pub use metrics::RequestMetrics;
pub use mirror::{Mirror, MirrorOutcome};
pub use rollout::{RolledBack, Rollout, Version};

/// Everything that a request is served by.
pub struct Generation {
    /// Counts up from 1.
    pub number: u64,
    pub table: RouteTable,
    /// By `RouteId`.
    pub routes: Vec<RouteEntry>,
    /// By `PluginId`.
    pub plugins: Vec<Arc<Plugin>>,
    pub upstreams: Arc<Upstreams>,
    /// The same, as plugins may ask for them.
    pub upstream_names: Arc<dyn UpstreamNames>,
    pub policy: Policy,
    /// What new connections are taken by.
    pub listeners: Listeners,
    /// What its configuration says, for people, without secrets.
    pub shown: serde_json::Value,
    /// Where each request has its line.
    pub access_log: Option<AccessLog>,
    /// Attributes that the access log writes.
    pub log_attributes: Vec<String>,
    /// Requests that no route took, or that were refused before.
    pub unrouted: RequestMetrics,
}

/// What happens on a route.
pub struct RouteEntry {
    pub name: Arc<str>,
    pub chain: Chain,
    /// Another chain for some of the requests.
    pub rollout: Option<RouteRollout>,
    /// What happens where no plugin decides.
    pub action: Action,
    /// `None` where the route changes nothing by itself.
    pub edits: Option<Edits>,
    /// Bytes of a request's body at most.
    pub max_body: Option<u64>,
    pub mirror: Option<Arc<Mirror>>,
    /// `None` where all are the upstream's.
    pub timeouts: Option<RouteTimeouts>,
    /// Whether gRPC-Web of clients becomes gRPC.
    pub grpc_web: bool,
    /// Whether its requests are in the access log.
    pub logged: bool,
    /// Requests that each share of a split got; empty where the route has one upstream.
    pub shares: Vec<Counter>,
    pub metrics: RequestMetrics,
}

/// A rollout of one plugin of a route.
pub struct RouteRollout {
    /// The route's chain with the new plugin in it.
    pub chain: Chain,
    pub state: Arc<Rollout>,
}

impl RouteEntry {
    /// All of its chains.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        [&self.chain].into_iter().chain(self.rollout.as_ref().map(|rollout| &rollout.chain))
    }

    /// The plugins that serve a request.
    pub fn chain(&self, version: Version) -> &Chain {
        match (&self.rollout, version) {
            (Some(rollout), Version::Candidate) => &rollout.chain,
            _ => &self.chain,
        }
    }
}

/// What is believed of a request.
#[derive(Debug, Clone)]
pub struct Policy {
    pub trusted_proxies: Vec<IpNet>,
    pub owned_headers: Vec<HeaderName>,
    pub underscore_headers: UnderscoreHeaders,
    pub server_timing: ServerTiming,
    pub limits: ClientLimits,
    pub trace_context: TraceContext,
    pub loop_detection: bool,
    pub via: bool,
}

impl Policy {
    /// That of a configuration.
    pub fn of(server: &Server) -> Self {
        Self {
            trusted_proxies: server.trusted_proxies.clone(),
            owned_headers: server.owned_headers.clone(),
            underscore_headers: server.underscore_headers,
            server_timing: server.server_timing.clone(),
            limits: server.limits,
            trace_context: server.trace_context,
            loop_detection: server.loop_detection,
            via: server.via,
        }
    }
}
