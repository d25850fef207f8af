//! `path`, `query`, `request-headers` and `response-headers` of a route.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::OneOrMany;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PathEdits {
    pub(crate) strip_prefix: Option<Spanned<String>>,
    pub(crate) rewrite: Option<Spanned<Rewrite>>,
    pub(crate) add_prefix: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Rewrite {
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) to: Option<Spanned<String>>,
}

/// Of header fields or of query parameters: the names are checked later.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct FieldEdits {
    #[serde(default)]
    pub(crate) set: BTreeMap<Spanned<String>, Spanned<OneOrMany>>,
    #[serde(default)]
    pub(crate) append: BTreeMap<Spanned<String>, Spanned<OneOrMany>>,
    pub(crate) remove: Option<Vec<Spanned<String>>>,
}
