//! `[server]` and `[dns]`.

use serde::Deserialize;
use toml::Spanned;

use super::Scalar;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Server {
    pub(crate) threads: Option<Spanned<Scalar>>,
    pub(crate) grace: Option<Spanned<Scalar>>,
    pub(crate) drain_delay: Option<Spanned<Scalar>>,
    pub(crate) trusted_proxies: Option<Vec<Spanned<String>>>,
    pub(crate) owned_headers: Option<Vec<Spanned<String>>>,
    pub(crate) underscore_headers: Option<Spanned<String>>,
    pub(crate) server_timing: Option<Spanned<String>>,
    pub(crate) watch: Option<bool>,
    pub(crate) via: Option<bool>,
    pub(crate) loop_detection: Option<bool>,
    pub(crate) trace_context: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) limits: ClientLimits,
    #[serde(default)]
    pub(crate) timeouts: ClientTimeouts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct ClientLimits {
    pub(crate) header_bytes: Option<Spanned<Scalar>>,
    pub(crate) header_lines: Option<Spanned<i64>>,
    pub(crate) target_bytes: Option<Spanned<Scalar>>,
    pub(crate) body: Option<Spanned<Scalar>>,
    pub(crate) requests: Option<Spanned<i64>>,
    pub(crate) streams: Option<Spanned<i64>>,
    pub(crate) max_connections: Option<Spanned<i64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct ClientTimeouts {
    pub(crate) handshake: Option<Spanned<Scalar>>,
    pub(crate) header: Option<Spanned<Scalar>>,
    pub(crate) body: Option<Spanned<Scalar>>,
    pub(crate) write: Option<Spanned<Scalar>>,
    pub(crate) idle: Option<Spanned<Scalar>>,
    pub(crate) tunnel: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Dns {
    pub(crate) servers: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) timeout: Option<Spanned<Scalar>>,
    pub(crate) min_ttl: Option<Spanned<Scalar>>,
    pub(crate) max_ttl: Option<Spanned<Scalar>>,
    pub(crate) retry: Option<Spanned<Scalar>>,
    pub(crate) stale_max: Option<Spanned<Scalar>>,
}
