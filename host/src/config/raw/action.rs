//! `redirect` and `respond` of a route.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::OneOrMany;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Redirect {
    pub(crate) to: Option<Spanned<String>>,
    pub(crate) scheme: Option<Spanned<String>>,
    pub(crate) host: Option<Spanned<String>>,
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) status: Option<Spanned<i64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Respond {
    pub(crate) status: Option<Spanned<i64>>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<Spanned<String>, Spanned<OneOrMany>>,
    pub(crate) body: Option<Spanned<String>>,
    pub(crate) file: Option<Spanned<String>>,
}
