//! Files that a plugin may read, by the names of its manifest, as a tree in memory: a path is looked up in the
//! list of them and nowhere else, so there is nothing that one could escape to. Must not know who asks.

use bytes::Bytes;

use crate::config::model::GrantedFile;

/// What one plugin may read.
#[derive(Debug, Default)]
pub(in crate::plugin) struct Files(Vec<GrantedFile>);

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plugin) enum Node {
    /// By its path from the root: empty for the root, else with a `/` at its end.
    Dir(String),
    File {
        /// From the root.
        path: String,
        content: Bytes,
    },
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum NoNode {
    /// It leads out of where it starts.
    Outside,
    Missing,
    /// It goes on behind a file.
    NotDirectory,
}

impl Files {
    pub(in crate::plugin) fn new(files: Vec<GrantedFile>) -> Self {
        Self(files)
    }

    pub(in crate::plugin) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::plugin) fn root() -> Node {
        Node::Dir(String::new())
    }

    /// Where `path` leads from a directory.
    ///
    /// # Errors
    /// Nowhere that was granted.
    pub(in crate::plugin) fn find(&self, dir: &str, path: &str) -> Result<Node, NoNode> {
        if path.starts_with('/') {
            return Err(NoNode::Outside);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop().ok_or(NoNode::Outside)?),
                part => parts.push(part),
            }
        }
        let below = parts.join("/");
        let wants_dir = path.ends_with('/');
        self.node(format!("{dir}{below}"), wants_dir)
    }

    fn node(&self, path: String, wants_dir: bool) -> Result<Node, NoNode> {
        if let Some(file) = self.0.iter().find(|file| file.name == path) {
            let node = Node::File { path, content: file.content.clone() };
            return if wants_dir { Err(NoNode::NotDirectory) } else { Ok(node) };
        }
        let prefix = if path.is_empty() || path.ends_with('/') { path } else { path + "/" };
        if prefix.is_empty() || self.0.iter().any(|file| file.name.starts_with(&prefix)) {
            return Ok(Node::Dir(prefix));
        }
        let behind_a_file = |file: &GrantedFile| {
            prefix.strip_prefix(file.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        Err(if self.0.iter().any(behind_a_file) { NoNode::NotDirectory } else { NoNode::Missing })
    }

    /// The names in a directory, with whether each is a directory itself.
    pub(in crate::plugin) fn list(&self, dir: &str) -> Vec<(String, bool)> {
        let below = self.0.iter().filter_map(|file| file.name.strip_prefix(dir));
        let mut names: Vec<_> = below
            .map(|name| match name.split_once('/') {
                Some((first, _)) => (first.to_owned(), true),
                None => (name.to_owned(), false),
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let file = |name: &str| GrantedFile {
            name: name.to_owned(),
            path: name.into(),
            content: Bytes::copy_from_slice(name.as_bytes()),
        };
        Files::new(["a.txt", "lists/b", "lists/deep/c"].map(file).into())
    }

    #[test]
    fn paths_lead_to_what_is_granted_and_nowhere_else() {
        fn check(dir: &str, path: &str, expected: Result<&str, NoNode>) {
            let found = files().find(dir, path).map(|node| match node {
                Node::Dir(path) => format!("dir {path}"),
                Node::File { path, .. } => path,
            });
            assert_eq!(found, expected.map(str::to_owned), "{dir:?} {path:?}");
        }
        check("", "a.txt", Ok("a.txt"));
        check("", "./lists//b", Ok("lists/b"));
        check("", "lists/../a.txt", Ok("a.txt"));
        check("lists/", "deep/c", Ok("lists/deep/c"));
        check("", "", Ok("dir "));
        check("", ".", Ok("dir "));
        check("", "lists", Ok("dir lists/"));
        check("lists/", "deep/", Ok("dir lists/deep/"));
        check("lists/", ".", Ok("dir lists/"));
        check("", "..", Err(NoNode::Outside));
        check("", "lists/../../a.txt", Err(NoNode::Outside));
        check("lists/", "../a.txt", Err(NoNode::Outside));
        check("", "/a.txt", Err(NoNode::Outside));
        check("", "/etc/passwd", Err(NoNode::Outside));
        check("", "etc/passwd", Err(NoNode::Missing));
        check("", "list", Err(NoNode::Missing));
        check("", "a.txt/", Err(NoNode::NotDirectory));
        check("", "a.txt/b", Err(NoNode::NotDirectory));
    }

    #[test]
    fn directories_list_their_own() {
        let list = |dir| files().list(dir);
        assert_eq!(list(""), [("a.txt".to_owned(), false), ("lists".to_owned(), true)]);
        assert_eq!(list("lists/"), [("b".to_owned(), false), ("deep".to_owned(), true)]);
        assert_eq!(list("lists/deep/"), [("c".to_owned(), false)]);
    }
}
