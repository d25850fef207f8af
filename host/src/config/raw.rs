//! The configuration file as it is written: one serde type per table, each key optional and unchecked.
//! What has no place of its own in the text keeps the one of its key. Never leaves `config`.

mod access_log;
mod action;
mod edits;
mod http_origin;
mod listener;
mod manifest;
mod plugins;
mod rollout;
mod route;
mod server;
mod split;
mod upstream;
mod value;

pub(crate) use access_log::{AccessLog, Admin};
pub(crate) use action::{Redirect, Respond};
pub(crate) use edits::{FieldEdits, PathEdits, Rewrite};
pub(crate) use http_origin::HttpOrigin;
pub(crate) use listener::{Identity, Listener};
pub(crate) use manifest::{Body, BodyMode, Grants, Limits, Manifest, Quarantine};
pub(crate) use plugins::Plugins;
pub(crate) use rollout::{Rollout, Sticky, StickyTable};
pub(crate) use route::{Match, PatternTable, PluginTable, PluginUse, Route, RouteTimeouts, ValuePattern};
pub(crate) use server::{ClientLimits, ClientTimeouts, Dns, Server};
pub(crate) use split::{Mirror, Share, SplitKey, Targets};
pub(crate) use upstream::{
    Balance, BalanceTable, Ejection, HashKey, HashKeyTable, Health, Peer, PeerTable, PeerTls, PeerTlsTable,
    Retries, Timeouts, Upstream, UpstreamLimits,
};
pub(crate) use value::{OneOrMany, Scalar};
