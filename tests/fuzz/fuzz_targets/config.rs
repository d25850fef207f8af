//! Configuration files: no text makes the check panic, and every mistake can be shown.

#![no_main]

use std::sync::LazyLock;

use edgewright::config::{self, Color, codes};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

fuzz_target!(|text: &[u8]| {
    let path = DIRECTORY.path().join("edgewright.toml");
    std::fs::write(&path, text).expect("a file");
    let found = match config::load(&path) {
        Ok(checked) => {
            assert!(checked.warnings.iter().all(|found| !found.is_error()));
            checked.warnings
        }
        Err(found) => {
            assert!(found.iter().any(|found| found.is_error()), "refused without a reason");
            found
        }
    };
    assert!(found.iter().all(|found| codes::kind(found.code).is_some()));
    let _ = config::render(&found, Color::Plain);
});
