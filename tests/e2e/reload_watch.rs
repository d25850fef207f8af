//! Files that are watched: what editors and deployments do to them is taken without being asked for, once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use edgewright_tests::{DEADLINE, Origin, Proxy, Setup, wait_for};

/// A proxy that watches its files, whose requests go to an origin that answers with its name.
fn watching(first: &Origin, second: &Origin) -> Setup {
    Setup::new()
        .server("watch = true")
        .upstream("one", first)
        .upstream("two", second)
        .route("default", "", "one")
}

fn origins() -> (Origin, Origin) {
    (Origin::body("one"), Origin::body("two"))
}

fn wait_for_answer(proxy: &Proxy, expected: &str) {
    wait_for(DEADLINE, &format!("`{expected}` to answer"), || proxy.get("/").text() == expected);
}

fn to(text: &str, upstream: &str) -> String {
    let other = if upstream == "one" { "two" } else { "one" };
    text.replace(&format!("upstream = \"{other}\""), &format!("upstream = \"{upstream}\""))
}

#[test]
fn a_change_is_taken_however_it_is_written() {
    let (first, second) = origins();
    let proxy = watching(&first, &second).start();
    assert_eq!(proxy.get("/").text(), "one");
    // A new file in its place, as editors do.
    proxy.edit_config(|text| to(text, "two"));
    wait_for_answer(&proxy, "two");
    // The same file, written to.
    let path = proxy.directory().join("edgewright.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, to(&text, "one")).unwrap();
    wait_for_answer(&proxy, "one");
    assert_eq!(proxy.status()["last-reload"]["trigger"], "watch");
    assert_eq!(proxy.status()["generation"], 3, "one reload for each change");
}

#[test]
fn a_mistake_is_told_once_and_its_mending_is_taken() {
    let (first, second) = origins();
    let proxy = watching(&first, &second).start();
    proxy.edit_config(|text| format!("{text}\nnonsense = 1"));
    let _ = proxy.wait_for_log("not reloaded");
    assert_eq!(proxy.get("/").text(), "one");
    // Something happens beside it that is no change.
    proxy.put("notes.txt", "nothing");
    proxy.edit_config(|text| to(&text.replace("\nnonsense = 1", ""), "two"));
    wait_for_answer(&proxy, "two");
    let told = proxy.stderr().lines().filter(|line| line.contains("not reloaded")).count();
    assert_eq!(told, 1, "{}", proxy.stderr());
}

#[test]
fn a_swapped_link_is_a_change_as_kubernetes_makes_it() {
    let (first, second) = origins();
    let setup = watching(&first, &second);
    let text = fs::read_to_string(setup.write()).unwrap();
    let volume = setup.directory().join("volume");
    let lay = |version: &str, upstream: &str| {
        fs::create_dir_all(volume.join(version)).unwrap();
        let text = to(&text, upstream).replace("dir = \"plugins\"", "dir = \"../plugins\"");
        fs::write(volume.join(version).join("edgewright.toml"), text).unwrap();
    };
    let swap = |version: &str| {
        symlink(version, volume.join("..data_tmp")).unwrap();
        fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
    };
    lay("..2026_01", "one");
    swap("..2026_01");
    symlink(Path::new("..data/edgewright.toml"), volume.join("edgewright.toml")).unwrap();
    let proxy = setup.start_with("volume/edgewright.toml", &[]);
    assert_eq!(proxy.get("/").text(), "one");
    lay("..2026_02", "two");
    swap("..2026_02");
    wait_for_answer(&proxy, "two");
    fs::remove_dir_all(volume.join("..2026_01")).unwrap();
    lay("..2026_03", "one");
    swap("..2026_03");
    wait_for_answer(&proxy, "one");
    assert_eq!(proxy.status()["last-reload"]["outcome"], "applied");
}

#[test]
fn the_flag_watches_too_and_nothing_else_does() {
    let (first, second) = origins();
    let setup = Setup::new().upstream("one", &first).upstream("two", &second).route("default", "", "one");
    let proxy = setup.start_with("edgewright.toml", &["--watch"]);
    proxy.edit_config(|text| to(text, "two"));
    wait_for_answer(&proxy, "two");
    let status = proxy.status();
    assert_eq!(status["last-reload"]["trigger"], "watch", "{status}");
}
