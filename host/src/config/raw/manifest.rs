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
    pub(crate) grants: Grants,
    #[serde(default)]
    pub(crate) limits: Limits,
    #[serde(default)]
    pub(crate) quarantine: Quarantine,
    pub(crate) config: Option<Spanned<toml::Table>>,
    pub(crate) sha256: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Grants {
    #[serde(default)]
    pub(crate) kv: bool,
    #[serde(default)]
    pub(crate) counter: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Limits {
    pub(crate) time: Option<Spanned<Scalar>>,
    pub(crate) memory: Option<Spanned<Scalar>>,
    pub(crate) instances: Option<Spanned<i64>>,
    pub(crate) queue: Option<Spanned<Scalar>>,
    pub(crate) calls: Option<Spanned<i64>>,
    pub(crate) kept_memory: Option<Spanned<Scalar>>,
    pub(crate) kv: Option<Spanned<Scalar>>,
    pub(crate) counters: Option<Spanned<i64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Quarantine {
    pub(crate) failures: Option<Spanned<i64>>,
    pub(crate) window: Option<Spanned<Scalar>>,
    pub(crate) pause: Option<Spanned<Scalar>>,
    pub(crate) longest_pause: Option<Spanned<Scalar>>,
}
