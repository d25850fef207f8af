//! Compiled plugins on disk: found again, never trusted blindly.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
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
fn p22_a_damaged_file_is_replaced() {
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

/// The directory may have been open to others before it was ours alone.
#[test]
fn p22_a_planted_file_is_not_run() {
    let dir = TempDir::new().expect("a directory");
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).expect("our directory");
    let bench = Bench::with_cache(Some(dir.path().to_owned()));
    let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
    bench.load(&spec).expect("a plugin");
    let [ours] = &*files(dir.path()) else { panic!("one file") };
    let whole = fs::read(ours).expect("a file");
    let elsewhere = TempDir::new().expect("a directory");
    let copy = elsewhere.path().join("copy");
    fs::copy(ours, &copy).expect("a copy");
    let other = bench.spec(&Guest { on_request: Some(SEEN), ..Guest::default() }.build());
    bench.load(&other).expect("a plugin");
    let another = files(dir.path()).into_iter().find(|file| file != ours).expect("a second file");

    let check = |what: &str| {
        let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
        assert!(!bench.load(&spec).expect("a plugin").cached(), "{what}");
        assert!(fs::symlink_metadata(ours).expect("a file").is_file(), "{what} was replaced");
        assert_eq!(fs::read(ours).expect("a file"), whole, "{what} was replaced");
        assert!(bench.load(&spec).expect("a plugin").cached(), "{what}");
    };
    fs::set_permissions(ours, Permissions::from_mode(0o620)).expect("our file");
    check("a file that the group can write");
    fs::set_permissions(ours, Permissions::from_mode(0o602)).expect("our file");
    check("a file that others can write");
    fs::remove_file(ours).expect("our file");
    symlink(&copy, ours).expect("a link");
    check("a link");
    fs::remove_file(ours).expect("our file");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let pipe = rustix::fs::mknodat(rustix::fs::CWD, ours, rustix::fs::FileType::Fifo, mode, 0);
    pipe.expect("a named pipe");
    check("a named pipe");
    fs::copy(&another, ours).expect("a copy");
    check("what was made from another component");
    // Only root can give a file away.
    if rustix::process::geteuid().is_root() {
        chown(ours, Some(65_534), None).expect("our file");
        check("a file of another user");
    }
}

#[test]
fn p22_a_directory_of_others_is_not_used() {
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
