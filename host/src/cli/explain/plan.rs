//! What would happen to a request on its route: chain, changes, and where it goes. Knows nothing of how routes are
//! found.

use std::fmt;

use serde::Serialize;

use crate::config::model::{
    Action, Config, FieldValue, HeaderEdits, HostHeader, PeerEntry, PluginUse, Route, RouteTimeouts,
};
use crate::ids::{PluginId, UpstreamId};
use crate::proxy::{Refused, Rehearsal};

/// What a route does with a request, as far as no plugin decides.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Plan {
    /// Names of plugins, in the order of requests.
    chain: Vec<String>,
    /// An upstream, or what the route does in its place.
    action: String,
    /// Upstreams that it may go to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upstreams: Vec<Group>,
    /// What the upstream is asked for, where that is not what the client asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Where a redirect leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// Fields that are changed, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    /// A second upstream that gets copies, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<String>,
}

/// An upstream.
#[derive(Debug, Serialize)]
struct Group {
    name: String,
    peers: Vec<String>,
    /// Which of them, in words.
    balance: String,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.name, self.peers.join(", "), self.balance)
    }
}

impl Plan {
    /// # Errors
    /// The proxy would refuse the request on this route.
    pub(super) fn of(config: &Config, route: &Route, rehearsal: &Rehearsal) -> Result<Self, Refused> {
        let name = |id: UpstreamId| config.upstreams.get(id.index()).map(|upstream| &*upstream.name);
        let name_of =
            |id: PluginId| config.plugins.get(id.index()).map(|plugin| &*plugin.name).unwrap_or_default();
        let plugin = |used: &PluginUse| match &used.rollout {
            Some(rollout) => {
                let (weight, candidate) = (rollout.weight, name_of(rollout.plugin));
                format!("{} (for {weight} %: {candidate})", name_of(used.plugin))
            }
            None => name_of(used.plugin).to_owned(),
        };
        let upstreams = route.action.upstreams().filter_map(|id| config.upstreams.get(id.index()));
        Ok(Self {
            chain: route.chain.iter().map(plugin).collect(),
            action: route.action.told(name),
            upstreams: upstreams
                .map(|upstream| Group {
                    name: upstream.name.to_string(),
                    peers: upstream.peers.iter().map(PeerEntry::to_string).collect(),
                    balance: upstream.balance.to_string(),
                })
                .collect(),
            target: rehearsal.target(route)?,
            location: match &route.action {
                Action::Redirect(redirect) => Some(rehearsal.location(route, redirect)?),
                _ => None,
            },
            changes: changes(route),
            mirror: route
                .mirror
                .as_ref()
                .map(|mirror| format!("{} ({} %)", name(mirror.upstream).unwrap_or_default(), mirror.share)),
        })
    }
}

fn changes(route: &Route) -> Vec<String> {
    let edits = &route.edits;
    let mut changes = Vec::new();
    if let Some(limit) = route.max_body {
        changes.push(format!("request: a body of more than {limit} bytes is refused"));
    }
    match &edits.host {
        HostHeader::Preserve => {}
        HostHeader::Peer => changes.push("host: the upstream is sent the peer's name".to_owned()),
        HostHeader::Name(host) => {
            changes
                .push(format!("host: the upstream is sent `{}`", String::from_utf8_lossy(host.as_bytes())));
        }
    }
    changes.extend(time_limits(&route.timeouts));
    changes.extend(fields("request", &edits.request_headers));
    changes.extend(fields("response", &edits.response_headers));
    changes
}

fn time_limits(timeouts: &RouteTimeouts) -> Option<String> {
    let RouteTimeouts { connect, read, write, total } = *timeouts;
    let all = [("connect", connect), ("read", read), ("write", write), ("total", total)];
    let told: Vec<String> = all
        .iter()
        .filter_map(|(name, time)| Some(format!("{name} {}", humantime::format_duration((*time)?))))
        .collect();
    (!told.is_empty()).then(|| format!("time limits of the route: {}", told.join(", ")))
}

fn fields<'a>(side: &'a str, edits: &'a HeaderEdits) -> impl Iterator<Item = String> + 'a {
    let value = |value: &FieldValue| match value {
        FieldValue::Fixed(value) => String::from_utf8_lossy(value.as_bytes()).into_owned(),
        FieldValue::Made(template) => template.to_string(),
    };
    let removed = edits.remove.iter().map(move |name| format!("{side}: `{name}` is removed"));
    let set = edits.set.iter().map(move |(name, to)| format!("{side}: `{name}` is set to `{}`", value(to)));
    let added =
        edits.append.iter().map(move |(name, to)| format!("{side}: `{name}: {}` is added", value(to)));
    removed.chain(set).chain(added)
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.chain.is_empty() {
            writeln!(f, "chain: {} (the responses in reverse)", self.chain.join(" → "))?;
        }
        if let Some(target) = &self.target {
            writeln!(f, "target: {target}")?;
        }
        match (self.upstreams.as_slice(), &self.location) {
            ([upstream], _) => {
                writeln!(f, "upstream: {upstream}")?;
            }
            ([], Some(location)) => writeln!(f, "redirect: {}, here {location}", self.action)?,
            ([], None) => writeln!(f, "response: {}", self.action)?,
            (upstreams, _) => {
                writeln!(f, "upstream: {}", self.action)?;
                for upstream in upstreams {
                    writeln!(f, "  {upstream}")?;
                }
            }
        }
        if let Some(mirror) = &self.mirror {
            writeln!(f, "mirror: {mirror}")?;
        }
        for change in &self.changes {
            writeln!(f, "{change}")?;
        }
        Ok(())
    }
}
