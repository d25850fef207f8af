//! From raw types to the checked model: one file per section. Every check tells all that it finds and goes
//! on with a default, so that one run finds every mistake; a model with mistakes never leaves `config`.

mod access_log;
mod action;
mod balance;
mod body_file;
mod client_limits;
mod condition;
mod edits;
mod granted_file;
mod grants;
mod health;
mod host;
mod http_origin;
mod identity;
mod idle_keys;
mod listeners;
mod log_format;
mod matcher;
mod names;
mod path;
mod peer_tls;
mod peers;
mod plugins;
mod retries;
mod rollout;
mod routes;
mod server;
mod split;
mod upstreams;
mod value_pattern;

pub(crate) use access_log::{access_log, admin};
pub(crate) use grants::grants;
pub(crate) use listeners::{EndKind, Taken, listeners, peer_is_self, taken};
pub(crate) use names::plugin_name;
pub(crate) use plugins::{Shelf, cache, default_cache};
pub(crate) use routes::routes;
pub(crate) use server::{dns, server, threads};
pub(crate) use upstreams::{Upstreams, upstreams};
