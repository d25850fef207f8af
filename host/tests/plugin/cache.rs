//! Compiled plugins on disk: found again, never trusted blindly.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::guest::{Guest, NEXT, SEEN};
use crate::request::Bench;

fn files(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_compiled_plugin_is_found_again() {
    let parent = TempDir::new().expect("a directory");
    let dir = parent.path().join("made/by/the/cache");
    let bench = Bench::with_cache(Some(dir.clone()));
    let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
    assert!(!bench.load(&spec).expect("a plugin").cached());
    assert_eq!(fs::metadata(&dir).expect("a directory").permissions().mode() & 0o777, 0o700);
    assert_eq!(files(&dir).len(), 1);
    assert!(bench.load(&spec).expect("a plugin").cached());
    let other = Bench::with_cache(Some(dir.clone()));
    assert!(other.load(&spec).expect("a plugin").cached());
    let changed = bench.spec(&Guest { on_request: Some(SEEN), ..Guest::default() }.build());
    assert!(!bench.load(&changed).expect("a plugin").cached());
    assert_eq!(files(&dir).len(), 2);
}

#[test]
fn a_damaged_file_is_replaced() {
    let dir = TempDir::new().expect("a directory");
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).expect("our directory");
    let bench = Bench::with_cache(Some(dir.path().to_owned()));
    let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
    bench.load(&spec).expect("a plugin");
    let [file] = &*files(dir.path()) else { panic!("one file") };
    let whole = fs::read(file).expect("a file");
    let mut flipped = whole.clone();
    *flipped.last_mut().expect("a byte") ^= 1;
    for damaged in [&flipped[..], &whole[..40], b""] {
        fs::write(file, damaged).expect("a file");
        assert!(!bench.load(&spec).expect("a plugin").cached(), "{} bytes", damaged.len());
        assert_eq!(fs::read(file).expect("a file"), whole, "it was replaced");
        assert!(bench.load(&spec).expect("a plugin").cached());
    }
}

#[test]
fn a_directory_of_others_is_not_used() {
    let dir = TempDir::new().expect("a directory");
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(dir.path(), Permissions::from_mode(mode)).expect("our directory");
        let bench = Bench::with_cache(Some(dir.path().to_owned()));
        let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
        for _ in 0..2 {
            assert!(!bench.load(&spec).expect("a plugin").cached(), "{mode:o}");
        }
        assert!(files(dir.path()).is_empty(), "{mode:o}");
    }
    let file = dir.path().join("file");
    fs::write(&file, b"").expect("a file");
    let bench = Bench::with_cache(Some(file));
    let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
    assert!(!bench.load(&spec).expect("a plugin").cached());
}
