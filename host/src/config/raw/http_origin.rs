//! Entries of `grants.http` in a manifest.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

/// `"https://auth.internal"` or `{ origin = "http://127.0.0.1:9000", private = true }`.
#[derive(Debug)]
pub(crate) enum HttpOrigin {
    Origin(String),
    Table(HttpOriginTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct HttpOriginTable {
    pub(crate) origin: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) private: bool,
    pub(crate) ca: Option<Spanned<String>>,
}

impl<'de> Deserialize<'de> for HttpOrigin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = HttpOrigin;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `origin`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<HttpOrigin, E> {
                Ok(HttpOrigin::Origin(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<HttpOrigin, A::Error> {
                HttpOriginTable::deserialize(MapAccessDeserializer::new(table)).map(HttpOrigin::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
