//! Rust source files as text: found, cut at their tests, freed of comments.

use std::path::{Path, PathBuf};

use edgewright_tests::component::repository;

/// A source file of the repository.
pub(crate) struct Source {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// The text before a test module at its end.
    pub(crate) fn without_tests(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod ").unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// The text without tests and comments.
    pub(crate) fn code(&self) -> String {
        let lines = self.without_tests().lines().map(|line| {
            // A `//` inside of a literal cuts more than a comment; for names of modules and crates that
            // is no matter.
            line.split_once("//").map_or(line, |(code, _)| code)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Every Rust file below a directory of the repository, which may be missing.
pub(crate) fn rust_files(below: &str) -> Vec<Source> {
    files(&repository().join(below), "rs")
        .into_iter()
        .map(|path| Source { text: std::fs::read_to_string(&path).expect("UTF-8"), path: shown(&path) })
        .collect()
}

/// Every file with that extension below a directory, sorted; build output is passed over.
pub(crate) fn files(below: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(below) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                found.extend(files(&path, extension));
            }
        } else if path.extension().is_some_and(|has| has == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The sub-directories of a directory of the repository, which may be missing.
pub(crate) fn directories(below: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(repository().join(below)) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A path from the repository's root, with `/`.
pub(crate) fn shown(path: &Path) -> String {
    let path = path.strip_prefix(repository()).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Fails with all of them, if there are any.
pub(crate) fn none(what: &str, mistakes: &[String]) {
    assert!(mistakes.is_empty(), "{what}:\n  {}", mistakes.join("\n  "));
}
