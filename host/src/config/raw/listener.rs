//! `[[listeners]]`

use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Listener {
    pub(crate) address: Option<Spanned<String>>,
    pub(crate) protocols: Option<Spanned<Vec<Spanned<String>>>>,
}
