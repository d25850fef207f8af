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
    pub(crate) balance: Option<Spanned<Balance>>,
    pub(crate) protocol: Option<Spanned<String>>,
    pub(crate) tls: Option<Spanned<PeerTls>>,
    #[serde(default)]
    pub(crate) timeouts: Timeouts,
    #[serde(default)]
    pub(crate) retries: Retries,
    pub(crate) health: Option<Spanned<Health>>,
    #[serde(default)]
    pub(crate) ejection: Ejection,
    #[serde(default)]
    pub(crate) limits: UpstreamLimits,
    pub(crate) slow_start: Option<Spanned<Scalar>>,
    pub(crate) panic_threshold: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Timeouts {
    pub(crate) connect: Option<Spanned<Scalar>>,
    pub(crate) read: Option<Spanned<Scalar>>,
    pub(crate) write: Option<Spanned<Scalar>>,
    pub(crate) idle: Option<Spanned<Scalar>>,
    pub(crate) total: Option<Spanned<Scalar>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Health {
    pub(crate) http: Option<Spanned<String>>,
    pub(crate) tcp: Option<Spanned<bool>>,
    pub(crate) grpc: Option<Spanned<String>>,
    pub(crate) host: Option<Spanned<String>>,
    pub(crate) expected_status: Option<Spanned<Vec<Spanned<Scalar>>>>,
    pub(crate) interval: Option<Spanned<Scalar>>,
    pub(crate) timeout: Option<Spanned<Scalar>>,
    pub(crate) healthy_after: Option<Spanned<i64>>,
    pub(crate) unhealthy_after: Option<Spanned<i64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Retries {
    pub(crate) attempts: Option<Spanned<i64>>,
    pub(crate) budget: Option<Spanned<Scalar>>,
    pub(crate) on: Option<Spanned<Vec<Spanned<Scalar>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Ejection {
    pub(crate) connect_failures: Option<Spanned<Scalar>>,
    pub(crate) server_errors: Option<Spanned<Scalar>>,
    pub(crate) time: Option<Spanned<Scalar>>,
    pub(crate) max_time: Option<Spanned<Scalar>>,
    pub(crate) max_share: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct UpstreamLimits {
    pub(crate) max_requests: Option<Spanned<Scalar>>,
    pub(crate) max_connections: Option<Spanned<Scalar>>,
    pub(crate) max_pending: Option<Spanned<i64>>,
    pub(crate) pending_timeout: Option<Spanned<Scalar>>,
}

/// `"api.internal:8080"` or `{ address = "api.internal:8080", weight = 2 }`.
#[derive(Debug)]
pub(crate) enum Peer {
    Address(String),
    Table(PeerTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PeerTable {
    pub(crate) address: Option<Spanned<String>>,
    pub(crate) weight: Option<Spanned<i64>>,
}

/// `"random"` or `{ hash = "client-address" }`.
#[derive(Debug)]
pub(crate) enum Balance {
    Word(String),
    Table(BalanceTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct BalanceTable {
    pub(crate) hash: Option<Spanned<HashKey>>,
}

/// `"client-address"`, `"plugin"`, `{ header = "x-tenant" }` or `{ cookie = "session" }`.
#[derive(Debug)]
pub(crate) enum HashKey {
    Word(String),
    Table(HashKeyTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct HashKeyTable {
    pub(crate) header: Option<Spanned<String>>,
    pub(crate) cookie: Option<Spanned<String>>,
}

/// `true`, or a table.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each use in a file, made while it is read")]
pub(crate) enum PeerTls {
    Flag(bool),
    Table(PeerTlsTable),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PeerTlsTable {
    pub(crate) sni: Option<Spanned<String>>,
    pub(crate) verify: Option<Spanned<bool>>,
    pub(crate) verify_name: Option<Spanned<bool>>,
    pub(crate) ca: Option<Spanned<String>>,
    pub(crate) cert: Option<Spanned<String>>,
    pub(crate) key: Option<Spanned<String>>,
}

impl<'de> Deserialize<'de> for PeerTls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = PeerTls;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true` or a table")
            }

            fn visit_bool<E: Error>(self, word: bool) -> Result<PeerTls, E> {
                Ok(PeerTls::Flag(word))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<PeerTls, A::Error> {
                PeerTlsTable::deserialize(MapAccessDeserializer::new(table)).map(PeerTls::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}

/// A type that is a text or a table.
macro_rules! text_or_table {
    ($name:ident, $text:ident, $table:ident($type:ident), $expecting:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Form;
                impl<'de> Visitor<'de> for Form {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        Ok($name::$text(text.to_owned()))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<$name, A::Error> {
                        $type::deserialize(MapAccessDeserializer::new(table)).map($name::$table)
                    }
                }
                deserializer.deserialize_any(Form)
            }
        }
    };
}

text_or_table!(Peer, Address, Table(PeerTable), "a string or a table with `address`");
text_or_table!(Balance, Word, Table(BalanceTable), "a string or a table with `hash`");
text_or_table!(HashKey, Word, Table(HashKeyTable), "a string or a table with `header` or `cookie`");
