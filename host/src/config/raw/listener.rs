//! `[[listeners]]`

use serde::Deserialize;
use toml::Spanned;

use super::OneOrMany;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Listener {
    pub(crate) address: Option<Spanned<String>>,
    pub(crate) protocols: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) proxy_protocol: Option<Spanned<String>>,
    pub(crate) tls: Option<Spanned<Vec<Spanned<Identity>>>>,
    pub(crate) tls_min_version: Option<Spanned<String>>,
}

/// One entry of `tls`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Identity {
    pub(crate) cert: Option<Spanned<String>>,
    pub(crate) key: Option<Spanned<String>>,
    pub(crate) names: Option<Spanned<OneOrMany>>,
    pub(crate) client_ca: Option<Spanned<String>>,
    pub(crate) client_auth: Option<Spanned<String>>,
}
