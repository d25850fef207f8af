//! Why a request takes the route it takes: for people, through the command line. Walks the same matches as
//! the look-up, so that the two never disagree.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use crate::config::model::{HostPattern, PathPattern};
use crate::ids::RouteId;

use super::Request;
use super::host_index::HostMatch;
use super::path_tree::PathMatch;
use super::table::{Entry, Matched, RouteTable};

/// Routes that are explained beside the one that is taken. Past these, nobody reads on.
const MAX_OTHERS: usize = 10;

/// What happens to a request, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub method: String,
    pub host: String,
    pub path: String,
    /// The route that is taken.
    pub route: Option<String>,
    /// The routes that were looked at: in the order in which they are tried, then those that came close.
    pub candidates: Vec<Candidate>,
    /// How many more routes there are.
    pub omitted: usize,
    #[serde(skip)]
    id: Option<RouteId>,
}

/// One route that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    pub route: String,
    pub outcome: Outcome,
    /// In words.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The route that is taken.
    Taken,
    /// Would fit, but a more specific route or one further up in the file is taken.
    LessSpecific,
    /// Host and path fit, but a condition is not met.
    ConditionNotMet,
    PathDiffers,
    HostDiffers,
}

impl Explanation {
    /// The route that is taken: what [`RouteTable::find`] says.
    pub fn id(&self) -> Option<RouteId> {
        self.id
    }
}

pub(super) fn explain(table: &RouteTable, request: &Request<'_>) -> Explanation {
    let mut explained = HashSet::new();
    let mut candidates = Vec::new();
    let mut taken = None;
    let mut best = String::new();
    for matched in table.matches(request) {
        let Some(entry) = table.entries.get(matched.route.index()) else { continue };
        if !explained.insert(matched.route) {
            continue;
        }
        let (outcome, reason) = match entry.predicates.check(request) {
            Err(unmet) => (Outcome::ConditionNotMet, unmet.to_string()),
            Ok(()) if taken.is_none() => {
                let reason = taken_because(&matched, entry);
                taken = Some((matched.route, entry.name.to_string()));
                best.clone_from(&reason);
                (Outcome::Taken, reason)
            }
            // What is told is what counts.
            Ok(()) if best == taken_because(&matched, entry) => (
                Outcome::LessSpecific,
                format!("would fit {best}: as specific, but further down in the file"),
            ),
            Ok(()) => (Outcome::LessSpecific, format!("would fit {}", taken_because(&matched, entry))),
        };
        candidates.push(Candidate { route: entry.name.to_string(), outcome, reason });
    }
    let mut near: Vec<_> =
        table.entries.iter().enumerate().map(|(index, entry)| (RouteId::at(index), entry)).collect();
    near.retain(|(id, _)| !explained.contains(id));
    let host_fits: HashSet<_> =
        table.hosts.matches(request.host).flat_map(|(_, tree)| tree.routes()).collect();
    let path_fits: HashSet<_> =
        table.hosts.trees().flat_map(|tree| tree.matches(request.path)).map(|(_, route)| route).collect();
    near.sort_by_key(|(id, _)| (!host_fits.contains(id), !path_fits.contains(id), *id));
    candidates.extend(near.iter().map(|(id, entry)| miss(entry, request, host_fits.contains(id))));
    let omitted = keep_the_best(&mut candidates);
    let (id, route) = taken.unzip();
    Explanation {
        method: request.method.to_string(),
        host: request.host.to_owned(),
        path: request.path.to_owned(),
        route,
        candidates,
        omitted,
        id,
    }
}

/// Keeps the route that is taken and the first of the others; says how many went.
fn keep_the_best(candidates: &mut Vec<Candidate>) -> usize {
    let before = candidates.len();
    let mut others = 0;
    candidates.retain(|candidate| {
        others += usize::from(candidate.outcome != Outcome::Taken);
        candidate.outcome == Outcome::Taken || others <= MAX_OTHERS
    });
    before - candidates.len()
}

fn taken_because(matched: &Matched<'_>, entry: &Entry) -> String {
    let host = match matched.host {
        HostMatch::Exact(name) => format!("host `{name}`"),
        HostMatch::Wildcard(suffix) => format!("host `*.{suffix}`"),
        HostMatch::Any => "any host".to_owned(),
    };
    let path = match matched.path {
        PathMatch::Exact(path) => format!("path `{path}`"),
        PathMatch::Prefix("") => "any path".to_owned(),
        PathMatch::Prefix(path) => format!("path `{path}/*`"),
    };
    match entry.predicates.count() {
        0 => format!("by {host}, {path}"),
        1 => format!("by {host}, {path} and 1 condition"),
        count => format!("by {host}, {path} and {count} conditions"),
    }
}

fn miss(entry: &Entry, request: &Request<'_>, host_fits: bool) -> Candidate {
    let (outcome, reason) = if host_fits {
        let wanted = entry.paths.iter().map(|pattern| match pattern {
            PathPattern::Exact(path) => format!("`{path}`"),
            PathPattern::Prefix(path) => format!("`{path}/*`"),
        });
        (Outcome::PathDiffers, format!("the path `{}` is not {}", request.path, one_of(wanted)))
    } else {
        let wanted = entry.hosts.iter().map(|pattern| match pattern {
            HostPattern::Exact(name) => format!("`{name}`"),
            HostPattern::Wildcard(suffix) => format!("`*.{suffix}`"),
        });
        (Outcome::HostDiffers, format!("the host `{}` is not {}", request.host, one_of(wanted)))
    };
    Candidate { route: entry.name.to_string(), outcome, reason }
}

fn one_of(patterns: impl Iterator<Item = String>) -> String {
    patterns.collect::<Vec<_>>().join(" or ")
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}: ", self.method, self.host, self.path)?;
        match &self.route {
            Some(route) => writeln!(f, "route `{route}`")?,
            None => writeln!(f, "no route")?,
        }
        for candidate in &self.candidates {
            let mark = if candidate.outcome == Outcome::Taken { '+' } else { '-' };
            writeln!(f, "  {mark} `{}`: {candidate}", candidate.route)?;
        }
        if self.omitted > 0 {
            writeln!(f, "  and {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            Outcome::Taken => write!(f, "taken {}", self.reason),
            _ => f.write_str(&self.reason),
        }
    }
}
