//! `rollout` of a route's plugin.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Rollout {
    pub(crate) plugin: Option<Spanned<String>>,
    pub(crate) weight: Option<Spanned<i64>>,
    pub(crate) sticky: Option<Spanned<Sticky>>,
    pub(crate) min_calls: Option<Spanned<i64>>,
    pub(crate) max_failures: Option<Spanned<i64>>,
}

/// `"client-address"`, `{ header = "x-user" }` or `{ cookie = "session" }`.
#[derive(Debug)]
pub(crate) enum Sticky {
    Word(String),
    Table(StickyTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct StickyTable {
    pub(crate) header: Option<String>,
    pub(crate) cookie: Option<String>,
}

impl<'de> Deserialize<'de> for Sticky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Sticky;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `header` or `cookie`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Sticky, E> {
                Ok(Sticky::Word(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Sticky, A::Error> {
                StickyTable::deserialize(MapAccessDeserializer::new(table)).map(Sticky::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
