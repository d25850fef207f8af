//! `NAME.toml` beside `NAME.wasm`.

use serde::Deserialize;
use toml::Spanned;

use super::Scalar;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Manifest {
    pub(crate) description: Option<String>,
    pub(crate) isolation: Option<Spanned<String>>,
    pub(crate) on_failure: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) limits: Limits,
    pub(crate) config: Option<Spanned<toml::Table>>,
    pub(crate) sha256: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Limits {
    pub(crate) time: Option<Spanned<Scalar>>,
    pub(crate) memory: Option<Spanned<Scalar>>,
    pub(crate) instances: Option<Spanned<i64>>,
}
