//! `[upstreams.NAME]`

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::Scalar;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Upstream {
    pub(crate) peers: Option<Spanned<Vec<Spanned<Peer>>>>,
    #[serde(default)]
    pub(crate) timeouts: Timeouts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Timeouts {
    pub(crate) connect: Option<Spanned<Scalar>>,
    pub(crate) read: Option<Spanned<Scalar>>,
    pub(crate) write: Option<Spanned<Scalar>>,
    pub(crate) idle: Option<Spanned<Scalar>>,
}

/// `"api.internal:8080"` or `{ address = "api.internal:8080" }`.
#[derive(Debug)]
pub(crate) enum Peer {
    Address(String),
    Table(PeerTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PeerTable {
    pub(crate) address: Option<Spanned<String>>,
}

impl<'de> Deserialize<'de> for Peer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Peer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `address`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Peer, E> {
                Ok(Peer::Address(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Peer, A::Error> {
                PeerTable::deserialize(MapAccessDeserializer::new(table)).map(Peer::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
