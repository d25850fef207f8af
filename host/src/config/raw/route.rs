//! `[[routes]]`

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::{
    FieldEdits, Mirror, OneOrMany, PathEdits, Redirect, Respond, Rollout, Scalar, SplitKey, Targets,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Route {
    pub(crate) name: Option<Spanned<String>>,
    #[serde(rename = "match")]
    pub(crate) matcher: Option<Spanned<Match>>,
    #[serde(default)]
    pub(crate) plugins: Vec<Spanned<PluginUse>>,
    pub(crate) upstream: Option<Spanned<Targets>>,
    pub(crate) sticky: Option<Spanned<SplitKey>>,
    pub(crate) redirect: Option<Spanned<Redirect>>,
    pub(crate) respond: Option<Spanned<Respond>>,
    #[serde(default)]
    pub(crate) path: PathEdits,
    #[serde(default)]
    pub(crate) query: FieldEdits,
    pub(crate) host: Option<Spanned<String>>,
    pub(crate) max_body: Option<Spanned<Scalar>>,
    pub(crate) mirror: Option<Spanned<Mirror>>,
    #[serde(default)]
    pub(crate) timeouts: RouteTimeouts,
    pub(crate) grpc_web: Option<Spanned<bool>>,
    pub(crate) access_log: Option<bool>,
    #[serde(default)]
    pub(crate) request_headers: FieldEdits,
    #[serde(default)]
    pub(crate) response_headers: FieldEdits,
}

/// As an upstream's, without what belongs to its connections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct RouteTimeouts {
    pub(crate) connect: Option<Spanned<Scalar>>,
    pub(crate) read: Option<Spanned<Scalar>>,
    pub(crate) write: Option<Spanned<Scalar>>,
    pub(crate) total: Option<Spanned<Scalar>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Match {
    pub(crate) host: Option<Spanned<OneOrMany>>,
    pub(crate) path: Option<Spanned<OneOrMany>>,
    pub(crate) method: Option<Spanned<OneOrMany>>,
    #[serde(default)]
    pub(crate) header: BTreeMap<Spanned<String>, Spanned<ValuePattern>>,
    #[serde(default)]
    pub(crate) query: BTreeMap<Spanned<String>, Spanned<ValuePattern>>,
    #[serde(default)]
    pub(crate) cookie: BTreeMap<Spanned<String>, Spanned<ValuePattern>>,
}

/// `"v"`, or `{ exact = "v" }`, `{ prefix = "v" }`, `{ regex = "v" }`, `{ present = true }`.
#[derive(Debug)]
pub(crate) enum ValuePattern {
    Exact(String),
    Table(PatternTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PatternTable {
    pub(crate) exact: Option<Spanned<String>>,
    pub(crate) prefix: Option<Spanned<String>>,
    pub(crate) regex: Option<Spanned<String>>,
    pub(crate) present: Option<Spanned<bool>>,
}

/// `"api-key"` or `{ name = "api-key", config = { … } }`.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each use in a file, made while it is read")]
pub(crate) enum PluginUse {
    Name(String),
    Table(PluginTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PluginTable {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) config: Option<Spanned<toml::Table>>,
    pub(crate) rollout: Option<Spanned<Rollout>>,
}

impl<'de> Deserialize<'de> for ValuePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = ValuePattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `exact`, `prefix`, `regex` or `present`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ValuePattern, E> {
                Ok(ValuePattern::Exact(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<ValuePattern, A::Error> {
                PatternTable::deserialize(MapAccessDeserializer::new(table)).map(ValuePattern::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl<'de> Deserialize<'de> for PluginUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = PluginUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table with `name`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PluginUse, E> {
                Ok(PluginUse::Name(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<PluginUse, A::Error> {
                PluginTable::deserialize(MapAccessDeserializer::new(table)).map(PluginUse::Table)
            }
        }
        deserializer.deserialize_any(Form)
    }
}
