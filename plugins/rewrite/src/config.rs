//! What the user writes. Must not know what it is used for.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `config` of the plugin; each key is explained in README.md.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) path: Option<Path>,
    pub(crate) query: Query,
    pub(crate) request: Headers,
    pub(crate) response: Headers,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    pub(crate) regex: String,
    pub(crate) to: String,
}

/// By name, so in the order of the names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Query {
    pub(crate) append: BTreeMap<String, String>,
    pub(crate) set: BTreeMap<String, String>,
    pub(crate) remove: Vec<String>,
}

/// By name, so in the order of the names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Headers {
    pub(crate) set: BTreeMap<String, String>,
    pub(crate) append: BTreeMap<String, String>,
    pub(crate) remove: Vec<String>,
}
