//! What the flags of `edgewright proxy` mean, and what is said of wrong ones.

use std::{fs, io};

use edgewright::config::diagnostic::Diagnostic;
use edgewright::config::model::{Isolation, LogSink};
use edgewright::config::{self, ProxyFlags};
use tempfile::TempDir;

/// A directory with plugins, each a manifest and an empty component.
fn plugins(plugins: &[(&str, &str)]) -> io::Result<TempDir> {
    let dir = tempfile::tempdir()?;
    fs::create_dir(dir.path().join("plugins"))?;
    for (name, manifest) in plugins {
        fs::write(dir.path().join(format!("plugins/{name}.wasm")), "")?;
        fs::write(dir.path().join(format!("plugins/{name}.toml")), manifest)?;
    }
    Ok(dir)
}

#[test]
fn the_flags_of_proxy_make_a_configuration() {
    let dir = plugins(&[("api-key", "isolation = \"reuse\"\nconfig = { keys = [] }")]).unwrap();
    let checked = config::for_proxy(&ProxyFlags {
        to: "api.internal:80".into(),
        plugins: vec![dir.path().join("plugins/api-key.wasm")],
        threads: Some(2),
        admin: Some("127.0.0.1:9901".into()),
        ..ProxyFlags::default()
    });
    let config = checked.unwrap().config;
    assert_eq!(config.listeners[0].address.to_string(), "127.0.0.1:8080");
    assert_eq!(&*config.upstreams[0].name, "default");
    assert_eq!(config.upstreams[0].peers[0].to_string(), "api.internal:80");
    assert_eq!(config.plugins[0].manifest.isolation, Isolation::Reuse);
    assert!(config.routes[0].chain[0].config.contains_key("keys"));
    assert_eq!(config.server.threads.map(usize::from), Some(2));
    assert_eq!(config.access_log.map(|log| log.sink), Some(LogSink::Stdout));
}

#[test]
fn every_wrong_flag_is_told_by_name() {
    let dir = plugins(&[("one", "isolation = \"x\""), ("A", "")]).unwrap();
    let plugin = |name: &str| dir.path().join("plugins").join(name);
    let found = config::for_proxy(&ProxyFlags {
        to: "api.internal".into(),
        from: Some("localhost:80".into()),
        plugins: ["one.wasm", "one.wasm", "two.wasm", "one.toml", "A.wasm"].map(plugin).into(),
        threads: Some(0),
        admin: Some("9901".into()),
    });
    let told: Vec<String> =
        found.unwrap_err().into_iter().map(|found| found.id() + " " + &found.message).collect();
    let expected = [
        "E0401 `--to`: `api.internal` has no port",
        "E0301 `--from`: `localhost:80` is not",
        "E0301 `--admin`: `9901` is not",
        "E0205 `--threads`: `0` is out of range",
        "E0204 unknown word `x`",
        "E0607 `--plugin`: ",
        "E0602 `--plugin`: there is no file",
        "E0602 `--plugin`: ",
        "E0603 `--plugin`: `A` can't be",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told} and not {expected}");
    }
    let same = ProxyFlags {
        to: "a:1".into(),
        from: Some("127.0.0.1:1".into()),
        admin: Some("127.0.0.1:1".into()),
        ..ProxyFlags::default()
    };
    assert_eq!(config::for_proxy(&same).unwrap_err()[0].id(), "E0305");
}

#[test]
fn a_proxy_to_itself_is_refused() {
    let check = |to: &str, from: Option<&str>, admin: Option<&str>, expected: &[&str]| {
        let (from, admin) = (from.map(str::to_owned), admin.map(str::to_owned));
        let flags = ProxyFlags { to: to.into(), from, admin, ..ProxyFlags::default() };
        let found = config::for_proxy(&flags).err().unwrap_or_default();
        let ids: Vec<String> = found.iter().map(Diagnostic::id).collect();
        assert_eq!(ids, expected, "{flags:?}");
    };
    check("127.0.0.1:9000", None, None, &[]);
    check("127.0.0.1:8080", None, None, &["E0405"]);
    check("localhost:8080", None, None, &["E0405"]);
    check("127.0.0.1:80", Some("0.0.0.0:80"), None, &["E0405"]);
    check("127.0.0.1:9901", None, Some("127.0.0.1:9901"), &["E0405"]);
    check("127.0.0.1:9000", Some("127.0.0.1:0"), Some("224.0.0.1:80"), &["E0301", "E0301"]);
    check("10.0.0.7:80", Some("0.0.0.0:80"), Some("[::]:80"), &["E0305"]);
}
