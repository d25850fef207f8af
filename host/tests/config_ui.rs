//! What users are told: each folder of `config-ui` is a configuration, with what `check` says of it in
//! `expected.txt`. `UPDATE_GOLDEN=1` writes these files anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use edgewright::config::diagnostic::{Code, Diagnostic};
use edgewright::config::{self, Color, codes};

const CASES: &str = "tests/config-ui";

/// Kinds of mistakes that no folder can hold, each with a test elsewhere: told by other ways in than `load`, or
/// of a size that no case should have.
const WITHOUT_CASE: &[Code] = &[
    codes::TOO_LARGE,
    codes::PLUGIN_TWICE,
    codes::PLUGIN_LOAD,
    codes::PLUGIN_CONFIGURE,
    codes::NEEDS_RESTART,
    codes::CANNOT_LISTEN,
];

#[test]
fn every_case_says_what_is_expected() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let told = told(&case);
        let golden = case.join("expected.txt");
        if update {
            fs::write(&golden, &told).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if told != expected {
            wrong.push(format!("{}\n--- told\n{told}--- expected\n{expected}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_mistake_has_a_case() {
    let told: BTreeSet<Code> = found().iter().map(|diagnostic| diagnostic.code).collect();
    let mut missing = codes::TABLE.iter().map(|kind| kind.code);
    let missing = missing.find(|code| !told.contains(code) && !WITHOUT_CASE.contains(code));
    assert_eq!(missing, None, "no case has this code");
}

#[test]
fn messages_keep_to_the_style() {
    for diagnostic in found() {
        let message = &diagnostic.message;
        let first = message.chars().next().unwrap();
        assert!(!first.is_uppercase() && !message.ends_with('.'), "{message}");
        assert!(message.matches('`').count() % 2 == 0, "{message}");
        assert!(codes::kind(diagnostic.code).is_some(), "{message}");
        let help = diagnostic.help.unwrap_or_default();
        assert!(!help.ends_with('.'), "{help}");
    }
}

fn told(case: &Path) -> String {
    match load(case) {
        Ok(warnings) => format!("{}fine\n", config::render(&warnings, Color::Plain)),
        Err(found) => config::render(&found, Color::Plain),
    }
}

fn found() -> Vec<Diagnostic> {
    cases().iter().flat_map(|case| load(case).unwrap_or_else(|found| found)).collect()
}

fn load(case: &Path) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    config::load(&case.join("edgewright.toml")).map(|checked| checked.warnings)
}

/// The folders, by name; their paths are relative, so that they are the same on every machine.
fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(CASES).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}
