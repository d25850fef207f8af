//! `[plugins]`

use serde::Deserialize;
use toml::Spanned;

use super::Scalar;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Plugins {
    pub(crate) dir: Option<Spanned<String>>,
    pub(crate) cache: Option<Spanned<Scalar>>,
}
