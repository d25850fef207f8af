//! The rule for the query. Must not know where the captures are from.

use std::collections::BTreeMap;

use edgewright_sdk::query::{Query, encode, encode_piece};
use regex::bytes::Captures;

use crate::config;
use crate::path::PathRule;
use crate::template::Template;

pub(crate) struct QueryRule {
    remove: Vec<String>,
    set: Vec<Parameter>,
    append: Vec<Parameter>,
}

/// A parameter to add. What it captures is a piece of a path, so it is encoded already: only what would end
/// the parameter is encoded on top.
struct Parameter {
    name: String,
    value: Template,
}

impl QueryRule {
    /// # Errors
    /// Which value uses a capture that `path` does not have.
    pub(crate) fn new(config: config::Query, path: Option<&PathRule>) -> Result<Self, String> {
        let groups = path.map(PathRule::groups).unwrap_or_default();
        let parameters = |key: &str, values: BTreeMap<String, String>| {
            let parameter = |(name, value): (String, String)| match Template::parse(&value, &groups) {
                Ok(value) => Ok(Parameter { name, value }),
                Err(error) => Err(format!("`query.{key}.{name}`: {error}")),
            };
            values.into_iter().map(parameter).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            remove: config.remove,
            set: parameters("set", config.set)?,
            append: parameters("append", config.append)?,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.append.is_empty()
    }

    /// Removes, then sets, then appends: the client's own parameters stay in front. Without a match,
    /// parameters that capture are left alone.
    pub(crate) fn apply(&self, query: &mut Query, captures: Option<&Captures<'_>>) {
        for name in &self.remove {
            query.remove(name);
        }
        for parameter in &self.set {
            if let Some(encoded) = parameter.encoded(captures) {
                query.remove(&parameter.name);
                query.append_encoded(&encoded);
            }
        }
        for parameter in &self.append {
            if let Some(encoded) = parameter.encoded(captures) {
                query.append_encoded(&encoded);
            }
        }
    }
}

impl Parameter {
    fn encoded(&self, captures: Option<&Captures<'_>>) -> Option<String> {
        let value = match captures {
            Some(captures) => self.value.expand(captures, encode, encode_piece),
            None if self.value.captures() => return None,
            None => self.value.literals().map(encode).collect(),
        };
        Some(format!("{}={value}", encode(&self.name)))
    }
}
