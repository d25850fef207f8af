//! `NAME.toml` beside `NAME.wasm`.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::{HttpOrigin, Scalar};

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
    #[serde(default)]
    pub(crate) body: Body,
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
    #[serde(default)]
    pub(crate) metrics: bool,
    pub(crate) http: Option<Vec<Spanned<HttpOrigin>>>,
    pub(crate) env: Option<Vec<Spanned<String>>>,
    pub(crate) files: Option<Vec<Spanned<String>>>,
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
    pub(crate) series: Option<Spanned<i64>>,
    pub(crate) http_calls: Option<Spanned<i64>>,
    pub(crate) http_answer: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Quarantine {
    pub(crate) failures: Option<Spanned<i64>>,
    pub(crate) window: Option<Spanned<Scalar>>,
    pub(crate) pause: Option<Spanned<Scalar>>,
    pub(crate) longest_pause: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Body {
    pub(crate) request: Option<Spanned<BodyMode>>,
    pub(crate) response: Option<Spanned<BodyMode>>,
    pub(crate) unfit: Option<Spanned<String>>,
    pub(crate) codings: Option<Spanned<String>>,
}

/// `"stream"` or `{ buffer = "1MiB" }`.
#[derive(Debug)]
pub(crate) enum BodyMode {
    Word(String),
    Table(BufferTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct BufferTable {
    pub(crate) buffer: Option<Spanned<Scalar>>,
}

impl<'de> Deserialize<'de> for BodyMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = BodyMode;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `buffer`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<BodyMode, E> {
                Ok(BodyMode::Word(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<BodyMode, A::Error> {
                BufferTable::deserialize(MapAccessDeserializer::new(table)).map(BodyMode::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
