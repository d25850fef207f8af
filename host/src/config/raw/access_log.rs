//! `[access-log]` and `[admin]`.

use serde::Deserialize;
use toml::Spanned;

use super::Scalar;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct AccessLog {
    pub(crate) enabled: Option<bool>,
    pub(crate) format: Option<Spanned<String>>,
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) fields: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) sample: Option<Spanned<Scalar>>,
    pub(crate) attributes: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Admin {
    pub(crate) address: Option<Spanned<String>>,
}
