//! Paths of one host to routes: a tree with a level for each segment, so that a look-up costs what the
//! path is long and not what the table is. Knows no hosts and no predicates.

use foldhash::HashMap;

use crate::config::model::PathPattern;
use crate::ids::RouteId;

/// The paths of one host.
#[derive(Debug)]
pub(super) struct PathTree {
    /// The root first.
    nodes: Vec<Node>,
}

/// A path, segment by segment from the root.
#[derive(Debug, Default)]
struct Node {
    /// `None` at the root.
    parent: Option<usize>,
    /// What the segments spell: the prefix without `/*`, or the exact path.
    text: String,
    children: HashMap<String, usize>,
    exact: Vec<RouteId>,
    prefix: Vec<RouteId>,
}

/// How a path was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathMatch<'t> {
    Exact(&'t str),
    /// Without `/*`
    Prefix(&'t str),
}

impl Default for PathTree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl PathTree {
    /// Adds a route for a path; for every path, `*` too, where there is no pattern.
    pub(super) fn insert(&mut self, pattern: Option<&PathPattern>, route: RouteId) {
        let (text, is_exact) = match pattern {
            Some(PathPattern::Exact(path)) => (path.as_str(), true),
            Some(PathPattern::Prefix(path)) => (path.as_str(), false),
            None => ("", false),
        };
        let mut at = 0;
        for segment in segments(text) {
            at = self.child(at, segment);
        }
        let Some(node) = self.nodes.get_mut(at) else { return };
        let routes = if is_exact { &mut node.exact } else { &mut node.prefix };
        if !routes.contains(&route) {
            routes.push(route);
        }
    }

    /// Brings the routes of each path into their order of trial.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&RouteId) -> K) {
        for node in &mut self.nodes {
            node.exact.sort_by_key(&key);
            node.prefix.sort_by_key(&key);
        }
    }

    /// Every route of the tree, some more than once.
    pub(super) fn routes(&self) -> impl Iterator<Item = RouteId> {
        self.nodes.iter().flat_map(|node| node.exact.iter().chain(&node.prefix).copied())
    }

    /// The routes of a path, the most specific pattern first.
    pub(super) fn matches(&self, path: &str) -> impl Iterator<Item = (PathMatch<'_>, RouteId)> {
        let (deepest, whole) = self.descend(path);
        let exact = deepest
            .filter(|_| whole)
            .into_iter()
            .flat_map(|node| node.exact.iter().map(|route| (PathMatch::Exact(&node.text), *route)));
        let up = std::iter::successors(deepest, |node| self.nodes.get(node.parent?));
        let prefixes =
            up.flat_map(|node| node.prefix.iter().map(|route| (PathMatch::Prefix(&node.text), *route)));
        exact.chain(prefixes)
    }

    /// The deepest node on the way of a path, and whether it is the whole path.
    fn descend(&self, path: &str) -> (Option<&Node>, bool) {
        let mut at = self.nodes.first();
        for segment in segments(path) {
            let below = at.and_then(|node| self.nodes.get(*node.children.get(segment)?));
            match below {
                Some(node) => at = Some(node),
                None => return (at, false),
            }
        }
        // The asterisk form has no segments, and no exact pattern stands for it.
        (at, path.starts_with('/'))
    }

    fn child(&mut self, parent: usize, segment: &str) -> usize {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(parent) else { return parent };
        if let Some(child) = node.children.get(segment) {
            return *child;
        }
        node.children.insert(segment.to_owned(), next);
        let text = format!("{}/{segment}", node.text);
        self.nodes.push(Node { parent: Some(parent), text, ..Node::default() });
        next
    }
}

/// What stands between the slashes: none for an empty text and for `*`, one empty segment for `/`.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').into_iter().flat_map(|rest| rest.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &[PathMatch<'_>]) {
        let mut tree = PathTree::default();
        let exact = |path: &str| Some(PathPattern::Exact(path.to_owned()));
        let prefix = |path: &str| Some(PathPattern::Prefix(path.to_owned()));
        let patterns = [
            exact("/"),
            exact("/v1"),
            exact("/v1/status"),
            exact("/v1/dir/"),
            prefix("/v1"),
            prefix("/v1/deep/er"),
            prefix(""),
        ];
        for (index, pattern) in patterns.iter().enumerate() {
            tree.insert(pattern.as_ref(), RouteId::at(index));
        }
        let seen: Vec<_> = tree.matches(path).map(|(path, _)| path).collect();
        assert_eq!(seen, expected, "{path}");
    }

    #[test]
    fn exact_then_longest_prefix() {
        use PathMatch::{Exact, Prefix};
        check("/", &[Exact("/"), Prefix("")]);
        check("/v1", &[Exact("/v1"), Prefix("/v1"), Prefix("")]);
        check("/v1/", &[Prefix("/v1"), Prefix("")]);
        check("/v1/x", &[Prefix("/v1"), Prefix("")]);
        check("/v10", &[Prefix("")]);
        check("/v1/status", &[Exact("/v1/status"), Prefix("/v1"), Prefix("")]);
        check("/v1/status/", &[Prefix("/v1"), Prefix("")]);
        check("/v1/status/x", &[Prefix("/v1"), Prefix("")]);
        check("/v1/dir/", &[Exact("/v1/dir/"), Prefix("/v1"), Prefix("")]);
        check("/v1/dir", &[Prefix("/v1"), Prefix("")]);
        check("/v1/deep", &[Prefix("/v1"), Prefix("")]);
        check("/v1/deep/er/x", &[Prefix("/v1/deep/er"), Prefix("/v1"), Prefix("")]);
        check("/V1", &[Prefix("")]);
        check("*", &[Prefix("")]);
        check("", &[Prefix("")]);
    }
}
