//! `upstream` of a route where it is several, `sticky` and `mirror`.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::Scalar;

/// `"api"`, or `[{ name = "a", weight = 90 }, { name = "b", weight = 10 }]`.
#[derive(Debug)]
pub(crate) enum Targets {
    One(String),
    Several(Vec<Spanned<Share>>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Share {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) weight: Option<Spanned<i64>>,
}

/// `"client-address"`, `{ header = "x-user" }` or `{ cookie = "session" }`.
#[derive(Debug)]
pub(crate) enum SplitKey {
    Word(String),
    Table(SplitKeyTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct SplitKeyTable {
    pub(crate) header: Option<Spanned<String>>,
    pub(crate) cookie: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Mirror {
    pub(crate) upstream: Option<Spanned<String>>,
    pub(crate) share: Option<Spanned<Scalar>>,
    pub(crate) max_body: Option<Spanned<Scalar>>,
    pub(crate) timeout: Option<Spanned<Scalar>>,
    pub(crate) concurrency: Option<Spanned<i64>>,
}

impl<'de> Deserialize<'de> for Targets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Targets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of tables with `name` and `weight`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Targets, E> {
                Ok(Targets::One(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Targets, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Targets::Several)
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl<'de> Deserialize<'de> for SplitKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = SplitKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `header` or `cookie`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SplitKey, E> {
                Ok(SplitKey::Word(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<SplitKey, A::Error> {
                SplitKeyTable::deserialize(MapAccessDeserializer::new(table)).map(SplitKey::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
