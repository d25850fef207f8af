//! Every package keeps the house's lints, and nothing is there that no test runs.

use edgewright_tests::component::repository;

use crate::source::{directories, files, none, rust_files, shown};

/// The text of all end-to-end tests and of the host's own tests.
fn tests() -> String {
    let sources = rust_files("tests/e2e").into_iter().chain(rust_files("host/tests"));
    sources.map(|file| file.text).collect()
}

#[test]
fn every_package_inherits_the_lints() {
    let own: Vec<String> = files(repository(), "toml")
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .filter(|path| {
            let text = std::fs::read_to_string(path).expect("UTF-8");
            let manifest: toml::Table =
                text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let inherits =
                manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
            // The root has no package, and a workspace of its own (fuzzing) can't inherit.
            manifest.contains_key("package") && !manifest.contains_key("workspace") && inherits != Some(true)
        })
        .map(|path| shown(&path))
        .collect();
    none("packages without `[lints] workspace = true`", &own);
}

#[test]
fn every_guest_has_a_test() {
    let tests = tests();
    let idle: Vec<String> = directories("tests/guests")
        .into_iter()
        .filter(|name| !tests.contains(&format!("\"{name}\"")))
        .collect();
    none("guests that no test runs", &idle);
}

#[test]
fn every_shipped_plugin_has_a_test_a_manifest_and_a_readme() {
    let tests = tests();
    let mut mistakes = Vec::new();
    for name in directories("plugins") {
        if !tests.contains(&format!("\"{name}\"")) {
            mistakes.push(format!("{name}: no end-to-end test"));
        }
        for file in [format!("{name}.toml"), "README.md".to_owned()] {
            if !repository().join("plugins").join(&name).join(&file).is_file() {
                mistakes.push(format!("{name}: no {file}"));
            }
        }
    }
    none("plugins that are not whole", &mistakes);
}

#[test]
fn every_example_can_be_served_and_says_what_it_shows() {
    // The end-to-end tests serve every example that has a configuration.
    let mut mistakes = Vec::new();
    // What has a `Cargo.toml` is a program that examples use.
    let examples = directories("examples");
    let is_program = |name: &String| repository().join("examples").join(name).join("Cargo.toml").is_file();
    for name in examples.iter().filter(|name| !is_program(name)) {
        for file in ["edgewright.toml", "README.md"] {
            if !repository().join("examples").join(name).join(file).is_file() {
                mistakes.push(format!("{name}: no {file}"));
            }
        }
    }
    none("examples that are not whole", &mistakes);
}
