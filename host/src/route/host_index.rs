//! Hosts to the paths that they have: exact names and wildcards by hash, so that the number of hosts costs
//! nothing. Knows no predicates.

use foldhash::HashMap;

use crate::config::model::HostPattern;
use crate::target::is_address;

use super::path_tree::PathTree;

/// The hosts of a table.
#[derive(Debug, Default)]
pub(super) struct HostIndex {
    exact: HashMap<String, PathTree>,
    /// By what follows `*.`
    wildcard: HashMap<String, PathTree>,
    any: PathTree,
}

/// How a host was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostMatch<'h> {
    Exact(&'h str),
    /// What follows `*.`
    Wildcard(&'h str),
    Any,
}

impl HostIndex {
    /// The paths of a host; of any host where there is no pattern.
    pub(super) fn entry(&mut self, pattern: Option<&HostPattern>) -> &mut PathTree {
        match pattern {
            Some(HostPattern::Exact(name)) => self.exact.entry(name.clone()).or_default(),
            Some(HostPattern::Wildcard(suffix)) => self.wildcard.entry(suffix.clone()).or_default(),
            None => &mut self.any,
        }
    }

    /// Every tree, once the table is complete.
    pub(super) fn trees_mut(&mut self) -> impl Iterator<Item = &mut PathTree> {
        self.exact.values_mut().chain(self.wildcard.values_mut()).chain([&mut self.any])
    }

    /// Every tree.
    pub(super) fn trees(&self) -> impl Iterator<Item = &PathTree> {
        self.exact.values().chain(self.wildcard.values()).chain([&self.any])
    }

    /// The paths that a host has, the most specific pattern first.
    pub(super) fn matches<'t, 'h: 't>(
        &'t self,
        host: &'h str,
    ) -> impl Iterator<Item = (HostMatch<'h>, &'t PathTree)> {
        let exact = self.exact.get(host).map(|tree| (HostMatch::Exact(host), tree));
        // An address has no labels: `*.0.0.1` is no family of hosts.
        let name = if self.wildcard.is_empty() || is_address(host) { "" } else { host };
        let wildcards = std::iter::successors(parent(name), |suffix| parent(suffix))
            .filter_map(|suffix| Some((HostMatch::Wildcard(suffix), self.wildcard.get(suffix)?)));
        exact.into_iter().chain(wildcards).chain([(HostMatch::Any, &self.any)])
    }
}

/// The name without its first label.
fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, expected: &[HostMatch<'_>]) {
        let mut index = HostIndex::default();
        for name in ["a.test", "127.0.0.1", "[::1]"] {
            index.entry(Some(&HostPattern::Exact(name.to_owned())));
        }
        for suffix in ["test", "b.test", "0.1", "1"] {
            index.entry(Some(&HostPattern::Wildcard(suffix.to_owned())));
        }
        let seen: Vec<_> = index.matches(host).map(|(host, _)| host).collect();
        assert_eq!(seen, expected, "{host}");
    }

    #[test]
    fn exact_then_longest_wildcard_then_any() {
        use HostMatch::{Any, Exact, Wildcard};
        check("a.test", &[Exact("a.test"), Wildcard("test"), Any]);
        check("x.a.test", &[Wildcard("test"), Any]);
        check("x.y.b.test", &[Wildcard("b.test"), Wildcard("test"), Any]);
        check("b.test", &[Wildcard("test"), Any]);
        check("test", &[Any]);
        check("xtest", &[Any]);
        check("a.test.evil", &[Any]);
        check("", &[Any]);
        check("127.0.0.1", &[Exact("127.0.0.1"), Any]);
        check("10.0.0.1", &[Any]);
        check("[::1]", &[Exact("[::1]"), Any]);
    }
}
