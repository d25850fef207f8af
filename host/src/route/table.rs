//! The routes of a generation, in the order in which they are tried. Knows the shape of the
//! configuration's matches, nothing of what routes do.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::config::model::{HostPattern, PathPattern, Route};
use crate::ids::RouteId;

use super::host_index::{HostIndex, HostMatch};
use super::path_tree::PathMatch;
use super::predicate::Predicates;
use super::{Explanation, Request, explain};

/// Every route, indexed by host and path. What finding one costs does not grow with their number.
#[derive(Debug)]
pub struct RouteTable {
    pub(super) hosts: HostIndex,
    /// By `RouteId`.
    pub(super) entries: Vec<Entry>,
}

/// What a table keeps of a route.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    /// Only to explain; the index is what matches.
    pub(super) hosts: Vec<HostPattern>,
    pub(super) paths: Vec<PathPattern>,
    pub(super) predicates: Predicates,
}

/// A route whose host and path match, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matched<'a> {
    pub(super) host: HostMatch<'a>,
    pub(super) path: PathMatch<'a>,
    pub(super) route: RouteId,
}

impl RouteTable {
    /// A table of the configuration's routes; a route's place in the slice is its id.
    pub fn build(routes: &[Route]) -> Self {
        let entries: Vec<_> = routes.iter().map(Entry::of).collect();
        let mut hosts = HostIndex::default();
        for (index, route) in routes.iter().enumerate() {
            let id = RouteId::at(index);
            for host in patterns(&route.matcher.hosts) {
                let tree = hosts.entry(host);
                for path in patterns(&route.matcher.paths) {
                    tree.insert(path, id);
                }
            }
        }
        let trial = |id: &RouteId| {
            let predicates = entries.get(id.index()).map_or(0, |entry| entry.predicates.count());
            (Reverse(predicates), *id)
        };
        for tree in hosts.trees_mut() {
            tree.sort_by_key(trial);
        }
        Self { hosts, entries }
    }

    /// The route that a request takes. Allocates nothing unless a query parameter that a route asks for
    /// has to be decoded.
    pub fn find(&self, request: &Request<'_>) -> Option<RouteId> {
        self.matches(request).map(|matched| matched.route).find(|route| {
            self.entries.get(route.index()).is_some_and(|entry| entry.predicates.check(request).is_ok())
        })
    }

    /// Which route a request takes and why, and why the next best ones are not taken.
    pub fn explain(&self, request: &Request<'_>) -> Explanation {
        explain::explain(self, request)
    }

    /// The routes whose host and path match, in the order in which they are tried.
    pub(super) fn matches<'a>(
        &'a self,
        request: &Request<'a>,
    ) -> impl Iterator<Item = Matched<'a>> + use<'a> {
        let wanted = request.path;
        self.hosts.matches(request.host).flat_map(move |(host, tree)| {
            tree.matches(wanted).map(move |(path, route)| Matched { host, path, route })
        })
    }
}

impl Entry {
    fn of(route: &Route) -> Self {
        Self {
            name: Arc::clone(&route.name),
            hosts: route.matcher.hosts.clone(),
            paths: route.matcher.paths.clone(),
            predicates: Predicates::of(&route.matcher),
        }
    }
}

/// Each pattern, or one `None` that stands for anything.
fn patterns<T>(list: &[T]) -> impl Iterator<Item = Option<&T>> {
    list.iter().map(Some).chain(list.is_empty().then_some(None))
}

#[cfg(test)]
mod tests;
