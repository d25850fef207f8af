//! Heads, sizes and names of source files.

use crate::source::{none, rust_files};

/// Lines of a file without its tests.
const LONGEST: usize = 400;

/// Files that may be longer, each with its reason.
const LONGER: [(&str, &str); 0] = [];

/// Drawers: a file is named for what is in it.
const DRAWERS: [&str; 5] = ["util.rs", "utils.rs", "common.rs", "helpers.rs", "misc.rs"];

/// Where tests may sleep, each with its reason.
const SLEEPERS: [(&str, &str); 6] = [
    ("tests/src/wait.rs", "between two looks at a condition"),
    ("tests/src/process.rs", "between two looks at a process"),
    ("tests/src/dns.rs", "a server that was told to be slow"),
    ("host/tests/plugin/request.rs", "a host call that was told to stall"),
    ("tests/e2e/shutdown.rs", "a client that thinks between two requests"),
    ("tests/guests/patient/src/lib.rs", "a guest that waits is what it is"),
];

#[test]
fn every_file_opens_with_what_it_is() {
    let bare: Vec<String> = rust_files("")
        .into_iter()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path)
        .collect();
    none("files that don't open with `//!`", &bare);
}

#[test]
fn no_file_is_two_things() {
    let is_test = |path: &str| path.contains("/tests/") || path.starts_with("tests/e2e/");
    let long: Vec<String> = rust_files("")
        .iter()
        .filter(|file| !is_test(&file.path) && LONGER.iter().all(|(path, _)| *path != file.path))
        .map(|file| (file.without_tests().lines().count(), &file.path))
        .filter(|(lines, _)| *lines > LONGEST)
        .map(|(lines, path)| format!("{path}: {lines}"))
        .collect();
    none(&format!("files of more than {LONGEST} lines"), &long);
}

#[test]
fn files_are_named_for_what_is_in_them() {
    let drawers: Vec<String> = rust_files("")
        .into_iter()
        .map(|file| file.path)
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name == "mod.rs" || DRAWERS.contains(&name)
        })
        .collect();
    none("drawers, and `mod.rs` where `foo.rs` is the way", &drawers);
}

#[test]
fn tests_wait_for_conditions_and_none_is_ignored() {
    // Put together here, so that this file is not one of them.
    let (sleep, ignore) = (concat!("slee", "p("), concat!("#[igno", "re"));
    let mut found = Vec::new();
    for file in rust_files("") {
        let tests = file.text.get(file.without_tests().len()..).unwrap_or_default();
        let is_test = file.path.starts_with("tests/") && !file.path.starts_with("tests/bench/")
            || file.path.contains("/tests/");
        let text = if is_test { file.text.as_str() } else { tests };
        if text.contains(sleep) && SLEEPERS.iter().all(|(path, _)| *path != file.path) {
            found.push(format!("{}: sleeps", file.path));
        }
        if text.contains(ignore) {
            found.push(format!("{}: an ignored test", file.path));
        }
    }
    none("tests that hope", &found);
}
