//! The checked model: what the rest of the proxy may know of the configuration. Every value in it is
//! valid, every name is resolved to an id, every default is filled in. Knows nothing of TOML.

mod action;
mod client_limits;
mod display;
mod edits;
mod grants;
mod listener;
mod route_timeouts;
mod split;
mod template;
mod upstream;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Method};
use ipnet::IpNet;

use crate::ids::PluginId;
use crate::log_field::LogField;

pub use grants::{GrantedFile, Grants, HttpGrant, HttpOrigin, Scheme};

use super::diagnostic::Place;

pub use action::{Action, Redirect, Respond};
pub use client_limits::ClientLimits;
pub use edits::{Edits, FieldValue, HeaderEdits, HostHeader, PathEdits, QueryEdits, Rewrite};
pub use listener::{ClientAuth, ClientAuthMode, Identity, Listener, ProxyProtocol, Tls, TlsVersion};
pub use route_timeouts::RouteTimeouts;
pub use split::{Mirror, Share, Split, SplitKey};
pub use template::{Piece, Template, Variable};
pub use upstream::{
    Balance, Ejection, HashKey, Health, PeerAddress, PeerEntry, PeerHost, PeerIdentity, PeerProtocol,
    PeerSource, PeerTls, PeerVerify, Probe, Retries, RetryOn, Timeouts, Upstream, UpstreamLimits,
};

/// A whole configuration. `UpstreamId`, `PluginId` and `RouteId` index its tables.
#[derive(Debug, Clone)]
pub struct Config {
    pub server: Server,
    pub dns: Dns,
    pub listeners: Vec<Listener>,
    pub upstreams: Vec<Upstream>,
    /// The plugins that at least one route uses.
    pub plugins: Vec<Plugin>,
    /// Files of the plugins directory that no route uses, by name.
    pub unused_plugins: Vec<String>,
    pub routes: Vec<Route>,
    pub access_log: Option<AccessLog>,
    pub admin: Option<Admin>,
    /// What it says, for people, without secrets.
    pub shown: serde_json::Value,
    /// The plugins directory; none where plugins are named by their files.
    pub plugin_dir: Option<PathBuf>,
    /// Where compiled plugins are kept between starts.
    pub plugin_cache: Option<PathBuf>,
}

/// `[server]`
#[derive(Debug, Clone)]
pub struct Server {
    /// Worker threads; `None` is `"auto"`: the CPU quota.
    pub threads: Option<NonZeroUsize>,
    /// How long requests may go on after SIGTERM.
    pub grace: Duration,
    /// How long listeners stay open after SIGTERM, while responses say that their connections end.
    pub drain_delay: Duration,
    /// Peers whose forwarding headers are believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Request headers that only the proxy and its plugins may set: taken out of every request on arrival.
    pub owned_headers: Vec<HeaderName>,
    /// Whether request headers with `_` in their name pass (they fold to `-` in many applications).
    pub underscore_headers: UnderscoreHeaders,
    /// Whether a change of the files is taken without being asked to.
    pub watch: bool,
    pub limits: ClientLimits,
    pub trace_context: TraceContext,
    /// Whether requests tell in `cdn-loop` that they came through here, and are refused when they come back.
    pub loop_detection: bool,
    /// Whether what passes says in `via` that it came through here.
    pub via: bool,
    pub server_timing: ServerTiming,
}

/// Which responses say in `Server-Timing` what the request cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTiming {
    Off,
    On,
    /// Those to requests that have this header.
    Asked(HeaderName),
}

/// W3C Trace Context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceContext {
    /// What a client sends passes.
    Pass,
    /// A request without a trace begins one.
    Make,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnderscoreHeaders {
    Drop,
    Keep,
}

/// `[dns]`
#[derive(Debug, Clone)]
pub struct Dns {
    /// `None`: those of the system (`/etc/resolv.conf`).
    pub servers: Option<Vec<SocketAddr>>,
    /// One attempt's time.
    pub timeout: Duration,
    /// Answers are kept at least this long, whatever their TTL.
    pub min_ttl: Duration,
    /// Answers are kept at most this long, whatever their TTL.
    pub max_ttl: Duration,
    /// After a failed look-up, the next one comes this much later.
    pub retry: Duration,
    /// How long the last good answer is used after the name was said not to exist, or to have no address.
    /// (While servers fail or are silent, it is used without end.)
    pub stale_max: Duration,
}

/// A component of the plugins directory with its manifest.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// File name without `.wasm`.
    pub name: Arc<str>,
    pub file: PathBuf,
    pub manifest: Manifest,
    /// Where the first route names it: the place of a load error.
    pub place: Option<Place>,
}

/// `NAME.toml` beside `NAME.wasm`; all defaults where there is none.
#[derive(Debug, Clone)]
pub struct Manifest {
    pub description: Option<String>,
    pub isolation: Isolation,
    pub on_failure: OnFailure,
    pub limits: Limits,
    pub quarantine: Quarantine,
    pub grants: Grants,
    pub body: Body,
    /// Default configuration; a route's keys win over it.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Lower-case hex of the file's SHA-256, where the manifest pins it.
    pub sha256: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Instances serve many requests; globals live on between them.
    Reuse,
    /// An instance serves one call and is gone.
    Fresh,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The request is answered with 503.
    Closed,
    /// The request goes on as if the plugin were not there.
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// CPU time of one call.
    pub time: Duration,
    /// Linear memory of one instance, in bytes.
    pub memory: usize,
    /// Instances of one worker.
    pub instances: usize,
    /// How long a call waits for an instance where all of them are busy.
    pub queue: Duration,
    /// An instance that ran this many calls is replaced.
    pub calls: u32,
    /// An instance that has more linear memory than this after a call is replaced, in bytes.
    pub kept_memory: usize,
}

/// When a phase of a plugin that fails again and again is left out, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarantine {
    /// Failures in a row; `None`: it is never left out.
    pub failures: Option<NonZeroU32>,
    /// Failures that are further apart than this are no row.
    pub window: Duration,
    /// The first pause; each attempt that fails doubles it.
    pub pause: Duration,
    pub longest_pause: Duration,
}

/// How a plugin is given bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Body {
    /// `None`: in pieces, if it has the phase.
    pub request: Option<BodyMode>,
    /// `None`: in pieces, if it has the phase.
    pub response: Option<BodyMode>,
    pub unfit: Unfit,
    pub codings: Codings,
}

/// What becomes of a response that the plugin can't be given the body of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unfit {
    /// The client is answered 502. The default: a plugin that takes something out must not be got around by a
    /// coding.
    #[default]
    Fail,
    /// It passes without the plugin, and the log says so.
    Skip,
}

/// Which content codings of responses a plugin takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codings {
    /// None: the upstream is not asked for any.
    #[default]
    Identity,
    /// Any: it gets the bytes as they are.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyMode {
    /// Not at all.
    None,
    /// In pieces, as they come.
    Stream,
    /// Whole.
    Buffer {
        /// In bytes.
        limit: usize,
    },
}

/// `[[routes]]`
#[derive(Debug, Clone)]
pub struct Route {
    pub name: Arc<str>,
    pub matcher: Match,
    pub chain: Vec<PluginUse>,
    pub action: Action,
    pub edits: Edits,
    /// Bytes of a request's body at most.
    pub max_body: Option<u64>,
    pub mirror: Option<Mirror>,
    pub timeouts: RouteTimeouts,
    /// Whether gRPC-Web of clients becomes gRPC.
    pub grpc_web: bool,
    /// Whether its requests are in the access log.
    pub logged: bool,
    pub place: Option<Place>,
}

/// One entry of a route's `plugins`.
#[derive(Debug, Clone)]
pub struct PluginUse {
    pub plugin: PluginId,
    /// The manifest's default with the route's keys over it.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Another plugin that takes its place for some requests; one a route at most.
    pub rollout: Option<Rollout>,
    pub place: Option<Place>,
}

/// A plugin in another one's place.
#[derive(Debug, Clone)]
pub struct Rollout {
    pub plugin: PluginId,
    /// Its manifest's default with the route's keys over it.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// The share of the requests that it gets, in percent.
    pub weight: u8,
    pub sticky: Sticky,
    /// It is not judged before so many calls.
    pub min_calls: usize,
    /// It is stopped when more of its calls fail, in percent.
    pub max_failures: u8,
    pub place: Option<Place>,
}

/// What decides who gets the new plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sticky {
    /// Chance, for each request anew.
    No,
    /// The client's address.
    Client,
    /// A header; chance where a request has none.
    Header(HeaderName),
    /// A cookie; chance where a request has none.
    Cookie(String),
}

/// What a request must have. Empty lists match anything.
#[derive(Debug, Clone, Default)]
pub struct Match {
    /// Any of these.
    pub hosts: Vec<HostPattern>,
    /// Any of these.
    pub paths: Vec<PathPattern>,
    /// Any of these.
    pub methods: Vec<Method>,
    /// All of these.
    pub headers: Vec<(HeaderName, ValuePattern)>,
    /// All of these, by the decoded name of the parameter.
    pub query: Vec<(String, ValuePattern)>,
    /// All of these; names are case-sensitive.
    pub cookies: Vec<(String, ValuePattern)>,
}

/// Lower case, without port and final dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// `api.example.com`
    Exact(String),
    /// `*.example.com`, kept as `example.com`: any name with at least one more label in front.
    Wildcard(String),
}

/// Normalised as a request's path is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathPattern {
    /// `/v1/status`
    Exact(String),
    /// `/v1/*`, kept as `/v1`: `/v1` itself and everything below it, never `/v10`. `/*` is kept as an
    /// empty string.
    Prefix(String),
}

/// What a header, query parameter or cookie must be.
#[derive(Debug, Clone)]
pub enum ValuePattern {
    Present,
    Exact(String),
    Prefix(String),
    /// Unanchored, over bytes.
    Regex(Arc<regex::bytes::Regex>),
}

/// `[access-log]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    pub sink: LogSink,
    pub format: LogFormat,
    /// Of the requests, in percent. Those that failed are always written.
    pub sample: u8,
    /// Attributes that are written, by key.
    pub attributes: Vec<String>,
}

/// What a line looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFormat {
    Json,
    /// Without a repetition.
    JsonFields(Vec<LogField>),
    Text(Template<LogField>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogSink {
    Stdout,
    Stderr,
    File(PathBuf),
}

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    pub address: SocketAddr,
}
