//! One line of the access log. Times are microseconds, sizes are bytes; what is not known is left out.

use std::fmt::{self, Display};
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
    /// Only where it is asked for by name.
    #[serde(skip)]
    pub referer: Option<Escaped<'a>>,
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

/// With microseconds.
pub(super) struct Rfc3339(pub(super) std::time::SystemTime);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_micros(self.0))
    }
}

/// Calls as text: `api-key/request-filter=1.2,canary/request-filter=0.8`.
pub(super) struct Calls<'a>(pub(super) &'a [PluginTime<'a>]);

impl fmt::Display for Calls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, call) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}/{}={:.1}", call.name, call.phase, call.us)?;
        }
        Ok(())
    }
}

/// Attributes: a map, or as text `api-key.owner=alice,tier=gold`.
pub(super) struct Attributes<'a>(pub(super) &'a [(&'a str, Escaped<'a>)]);

impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{key}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_map(self.0, serializer)
    }
}

fn rfc3339<S: Serializer>(time: &std::time::SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Rfc3339(*time))
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

#[cfg(test)]
mod tests {
    use super::super::{Format, TextPiece};
    use super::*;
    use crate::log_field::LogField;

    /// A record in which everything is known.
    fn full() -> Record<'static> {
        Record {
            time: std::time::SystemTime::UNIX_EPOCH,
            request_id: Some("id"),
            client: Some("10.0.0.1".parse().unwrap()),
            method: Some("GET"),
            host: Some(Escaped(b"a.test")),
            target: Some(Escaped(b"/x?\"y")),
            protocol: Some("HTTP/1.1"),
            status: 200,
            duration_us: 1500,
            request_bytes: 1,
            response_bytes: 2,
            user_agent: Some(Escaped(b"a\"\n\xff")),
            referer: Some(Escaped(b"http://b.test/")),
            route: Some("api"),
            upstream: Some("main"),
            peer: Some(&"10.0.0.2:80"),
            attempts: 1,
            decided_by: Some("api-key"),
            error: Some("no-peer"),
            cause: Some(Escaped(b"why")),
            plugins: vec![PluginTime { name: "api-key", phase: "request-filter", us: 1.25 }],
            attributes: vec![("tier", Escaped(b"gold"))],
        }
    }

    #[test]
    fn every_field_of_the_json_has_a_name_that_can_be_chosen() {
        let json = serde_json::to_value(full()).unwrap();
        let names: Vec<&str> = LogField::NAMES.iter().map(|(name, _)| *name).collect();
        for (key, value) in json.as_object().unwrap() {
            assert!(names.contains(&key.as_str()), "`{key}` is not in `LogField`");
            let field = LogField::NAMES.iter().find(|(name, _)| name == key).unwrap().1;
            let line = Format::JsonFields([field].into()).line(&full()).unwrap();
            let chosen: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(&chosen[key], value, "{key}");
        }
    }

    #[test]
    fn text_is_one_line_with_a_dash_for_what_is_not_known() {
        let all: Vec<TextPiece> = LogField::NAMES
            .iter()
            .flat_map(|(_, field)| [TextPiece::Field(*field), TextPiece::Literal("|".into())])
            .collect();
        let text = |record: &Record<'_>| {
            let line = Format::Text(all.clone().into()).line(record).unwrap();
            String::from_utf8(line).unwrap()
        };
        assert_eq!(
            text(&full()),
            "1|tier=gold|why|10.0.0.1|api-key|1500|no-peer|a.test|GET|10.0.0.2:80|api-key/request-filter=1.2|\
             HTTP/1.1|http://b.test/|1|id|2|api|200|/x?\\x22y|1970-01-01T00:00:00.000000Z|\
             01/Jan/1970:00:00:00 +0000|main|a\\x22\\x0A\\x5Cxff|\n"
        );
        let unknown = Record {
            request_id: None,
            client: None,
            method: None,
            host: None,
            target: None,
            protocol: None,
            user_agent: None,
            referer: None,
            route: None,
            upstream: None,
            peer: None,
            decided_by: None,
            error: None,
            cause: None,
            plugins: Vec::new(),
            attributes: Vec::new(),
            ..full()
        };
        assert_eq!(
            text(&unknown),
            "1|-|-|-|-|1500|-|-|-|-|-|-|-|1|-|2|-|200|-|1970-01-01T00:00:00.000000Z|01/Jan/1970:00:00:00 +0000|-|-|\n"
        );
    }
}
