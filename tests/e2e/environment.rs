//! What of the process around it a plugin sees.

use edgewright_tests::{Origin, Setup, get, guest};

fn setup(manifest: &str, origin: &Origin) -> Setup {
    Setup::new()
        .plugin("curious", &guest("environment"), manifest)
        .upstream("main", origin)
        .route_all("[\"curious\"]", "main")
}

#[test]
fn p28_a_plugin_sees_nothing_of_the_process() {
    let origin = Origin::ok();
    let proxy = setup("", &origin).start();
    let seen = proxy.get("/").text();
    assert_eq!(seen, "[] [] true \"\" false");
}

#[test]
fn p28_variables_are_seen_by_name() {
    let origin = Origin::ok();
    let path = std::env::var("PATH").expect("a variable that is always there");
    let proxy = setup("grants = { env = [\"PATH\"] }", &origin).start();
    assert_eq!(proxy.get("/").text(), format!("[(\"PATH\", {path:?})] [] true \"\" false"));

    let finished =
        setup("grants = { env = [\"EDGEWRIGHT_IS_NOT_SET\"] }", &origin).run_to_end().expect_code(1);
    let expected = "`grants.env`: `EDGEWRIGHT_IS_NOT_SET` is not set in the proxy's environment";
    assert!(finished.said().contains(expected), "{}", finished.said());
}

/// A plugin that may read two files, beside others of its directory.
fn with_files(origin: &Origin, files: &str) -> Setup {
    let setup = Setup::new();
    std::fs::create_dir(setup.directory().join("plugins/data")).expect("a directory");
    setup
        .plugin("reader", &guest("files"), &format!("isolation = \"reuse\"\ngrants = {{ files = {files} }}"))
        .file("plugins/list.txt", "one\ntwo\n")
        .file("plugins/data/deep.txt", "deep")
        .file("plugins/secret.txt", "secret")
        .file("outside.txt", "outside")
        .upstream("main", origin)
        .route_all("[\"reader\"]", "main")
}

#[test]
fn p28_files_are_read_by_name_and_nothing_else_is() {
    let origin = Origin::ok();
    let setup = with_files(&origin, "[\"list.txt\", \"data/deep.txt\"]");
    let outside = setup.directory().join("outside.txt").display().to_string();
    let plugins = setup.directory().join("plugins");
    // Links that came later lead nowhere: paths are looked up among the names that were granted.
    std::os::unix::fs::symlink(&outside, plugins.join("link.txt")).expect("a link");
    std::os::unix::fs::symlink("..", plugins.join("data/up")).expect("a link");
    let proxy = setup.start();
    let check = |action: &str, path: &str, expected: Result<&str, &str>| {
        let answer = proxy.ask(&get("/").header("x-do", action).header("x-path", path));
        let (status, text) = (answer.status, answer.text());
        match expected {
            Ok(expected) => assert_eq!((status, &*text), (200, expected), "{action} {path}"),
            Err(expected) => {
                assert!(status == 403 && text.contains(expected), "{action} {path}: {status} {text}")
            }
        }
    };
    check("configured", "", Ok("one\ntwo\n"));
    check("read", "list.txt", Ok("one\ntwo\n"));
    check("read", "/list.txt", Ok("one\ntwo\n"));
    check("read", "data/../list.txt", Ok("one\ntwo\n"));
    check("read", "data/deep.txt", Ok("deep"));
    check("list", "/", Ok("data list.txt"));
    check("list", "data", Ok("deep.txt"));
    check("size", "list.txt", Ok("8"));
    for hidden in [
        "secret.txt",
        "reader.toml",
        "reader.wasm",
        "link.txt",
        "data/up/secret.txt",
        "/etc/passwd",
        &outside,
    ] {
        check("read", hidden, Err("No such file"));
        check("size", hidden, Err("No such file"));
    }
    for escape in ["../outside.txt", "data/../../outside.txt", "/../../../../../../../../etc/passwd"] {
        check("read", escape, Err(""));
    }
    check("read", "list.txt/more", Err("Not a directory"));
    check("read", "data", Err(""));
    for change in ["write", "append", "remove", "rename"] {
        check(change, "list.txt", Err(""));
    }
    check("write", "new.txt", Err(""));
    check("make", "new", Err(""));
    assert_eq!(std::fs::read_to_string(plugins.join("list.txt")).expect("the file"), "one\ntwo\n");
}

#[test]
fn p28_files_that_cannot_be_granted_are_told_with_their_place() {
    let origin = Origin::ok();
    let check = |files: &str, expected: &str| {
        let setup = with_files(&origin, files);
        let plugins = setup.directory().join("plugins");
        std::os::unix::fs::symlink("../outside.txt", plugins.join("link.txt")).expect("a link");
        std::os::unix::fs::symlink("..", plugins.join("up")).expect("a link");
        let said = setup.run_to_end().expect_code(1).said();
        assert!(said.contains("error[E0622]") && said.contains("reader.toml:2:"), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    check("[\"/etc/passwd\"]", "is no path below the directory of the manifest");
    check("[\"../outside.txt\"]", "is no path below the directory of the manifest");
    check("[\"link.txt\"]", "a link leads out of the directory of the manifest");
    check("[\"up/outside.txt\"]", "a link leads out of the directory of the manifest");
    check("[\"data\"]", "is a directory");
    check("[\"gone.txt\"]", "can't be read");
    check("[\"list.txt\", \"list.txt\"]", "is granted twice");
}

#[test]
fn p28_a_file_without_the_grant_is_not_there() {
    let origin = Origin::ok();
    let finished = with_files(&origin, "[\"data/deep.txt\"]").run_to_end().expect_code(1);
    assert!(finished.said().contains("error[E0651]"), "{}", finished.said());
}

#[test]
fn a_changed_file_is_seen_after_a_reload_and_not_before() {
    let origin = Origin::ok();
    let proxy = with_files(&origin, "[\"list.txt\"]").start();
    let list = || {
        let ask = |action| proxy.ask(&get("/").header("x-do", action).header("x-path", "list.txt")).text();
        (ask("configured"), ask("read"))
    };
    let both = |text: &str| (text.to_owned(), text.to_owned());
    assert_eq!(list(), both("one\ntwo\n"));
    proxy.put("plugins/list.txt", "three\n");
    assert_eq!(list(), both("one\ntwo\n"));
    proxy.reload().expect_status(200);
    assert_eq!(list(), both("three\n"));
    // One that is gone leaves what serves.
    std::fs::remove_file(proxy.directory().join("plugins/list.txt")).expect("the file");
    assert_ne!(proxy.reload().status, 200);
    assert_eq!(list(), both("three\n"));
}
