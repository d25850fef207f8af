//! One line of the access log. Times are microseconds, sizes are bytes; what is not known is left out.

use std::fmt::Display;
use std::net::IpAddr;

use serde::{Serialize, Serializer};

use super::Escaped;

/// A finished request, borrowed from wherever its parts live.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Record<'a> {
    /// When the request arrived.
    #[serde(serialize_with = "rfc3339")]
    pub time: std::time::SystemTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Escaped<'a>>,
    /// The request target as the client sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Escaped<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'a str>,
    /// What the client was sent; 0 where it went away first.
    pub status: u16,
    pub duration_us: u64,
    pub request_bytes: u64,
    pub response_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<Escaped<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shown")]
    pub peer: Option<&'a dyn Display>,
    /// Peers that were tried.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: usize,
    /// The plugin that answered or failed the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<&'a str>,
    /// Why the host made the response: a word of the failure table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    /// Details of `error` that never reach the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Escaped<'a>>,
    /// What each call of a plugin took, in the order of the calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<PluginTime<'a>>,
    /// Attributes that the configuration names.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    pub attributes: Vec<(&'a str, Escaped<'a>)>,
}

/// One call.
#[derive(Debug, Serialize)]
pub struct PluginTime<'a> {
    pub name: &'a str,
    pub phase: &'static str,
    /// Microseconds with one decimal: most calls take less than ten of them.
    pub us: f64,
}

fn rfc3339<S: Serializer>(time: &std::time::SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_rfc3339_micros(*time))
}

fn shown<S: Serializer>(value: &Option<&dyn Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

fn as_map<S: Serializer>(pairs: &[(&str, Escaped<'_>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
