//! What a configuration means: values, defaults, order and merging; and that no text makes loading panic.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use edgewright::config::model::{
    Balance, ClientAuthMode, ClientLimits, Config, HashKey, HostPattern, Isolation, LogSink, OnFailure,
    PathPattern, PeerHost, PeerSource, ProxyProtocol, ServerTiming, TlsVersion, TraceContext,
    UnderscoreHeaders, ValuePattern,
};
use edgewright::config::{self, Checked, Color};
use tempfile::TempDir;

const EVERYTHING: &str = include_str!("config-ui/everything/edgewright.toml");

const SMALL: &str = r#"
[[listeners]]
address = "127.0.0.1:8080"
[upstreams.api]
peers = ["127.0.0.1:9000"]
[[routes]]
name = "api"
upstream = "api"
"#;

/// A directory with a configuration and its plugins, each a manifest and an empty component.
fn directory(text: &str, plugins: &[(&str, &str)]) -> io::Result<(TempDir, PathBuf)> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("edgewright.toml");
    fs::write(&path, text)?;
    fs::create_dir(dir.path().join("plugins"))?;
    for (name, manifest) in plugins {
        fs::write(dir.path().join(format!("plugins/{name}.wasm")), "")?;
        fs::write(dir.path().join(format!("plugins/{name}.toml")), manifest)?;
    }
    Ok((dir, path))
}

fn loaded(path: &Path) -> Config {
    match config::load(path) {
        Ok(Checked { config, .. }) => config,
        Err(found) => panic!("{}", config::render(&found, Color::Plain)),
    }
}

#[test]
fn every_key_reaches_the_model() {
    let config = loaded(Path::new("tests/config-ui/everything/edgewright.toml"));
    assert_eq!(config.server.threads.map(usize::from), Some(4));
    assert_eq!(config.server.grace, Duration::from_secs(5));
    assert_eq!(config.server.trusted_proxies.len(), 2);
    assert_eq!(config.server.owned_headers, ["x-user"]);
    assert_eq!(config.server.underscore_headers, UnderscoreHeaders::Keep);
    assert_eq!(config.server.server_timing, ServerTiming::Asked("x-debug-timing".parse().unwrap()));
    assert_eq!(config.dns.servers, Some(vec!["127.0.0.1:53".parse().unwrap()]));
    assert_eq!(config.dns.max_ttl, Duration::from_secs(3600));
    let seconds = Duration::from_secs;
    let limits = ClientLimits {
        header_bytes: 16 * 1024,
        header_lines: 50,
        target_bytes: 4 * 1024,
        body_bytes: 1024 * 1024,
        requests: 100,
        streams: 50,
        connections: Some(1000),
        handshake: seconds(1),
        header: seconds(2),
        body: seconds(3),
        write: seconds(4),
        idle: seconds(5),
        tunnel: seconds(6),
    };
    assert_eq!(config.server.limits, limits);
    assert_eq!(config.server.drain_delay, seconds(1));
    assert_eq!(config.server.trace_context, TraceContext::Make);
    assert_eq!(config.listeners[0].proxy_protocol, ProxyProtocol::Optional);
    assert!(config.listeners[0].h2);
    let tls = config.listeners[0].tls.as_ref().unwrap();
    assert_eq!(tls.min_version, TlsVersion::Tls13);
    assert_eq!(
        tls.identities[0].names,
        [HostPattern::Exact("b.test".into()), HostPattern::Wildcard("b.test".into())]
    );
    assert_eq!(tls.identities[0].client_auth.as_ref().unwrap().mode, ClientAuthMode::Optional);
    assert_eq!(config.upstreams[0].peers.len(), 5);
    let PeerSource::Socket(named) = &config.upstreams[0].peers[3].source else { panic!("a socket") };
    assert_eq!(named.host, PeerHost::Name("b.internal".into()));
    assert_eq!(config.upstreams[0].peers.iter().map(|peer| peer.weight).collect::<Vec<_>>(), [1, 1, 1, 2, 1]);
    assert_eq!(config.upstreams[0].balance, Balance::LeastRequests);
    assert_eq!(config.upstreams[0].ejection.server_errors, Some(5));
    assert_eq!(config.upstreams[1].balance, Balance::Hash(HashKey::Header("x-tenant".parse().unwrap())));
    assert_eq!(config.upstreams[0].timeouts.idle, Duration::from_secs(60));
    assert_eq!(config.plugin_cache, None);
    assert_eq!(config.admin.map(|admin| admin.address.port()), Some(9901));

    let log = config.access_log.unwrap();
    assert_eq!(log.sink, LogSink::File("tests/config-ui/everything/access.log".into()));
    assert_eq!(log.attributes, ["api-key.owner"]);

    let matcher = &config.routes[0].matcher;
    let hosts = [HostPattern::Exact("api.example.com".into()), HostPattern::Wildcard("example.org".into())];
    assert_eq!(matcher.hosts, hosts);
    assert_eq!(matcher.paths, [PathPattern::Prefix("/v1".into())]);
    assert_eq!(matcher.methods, ["GET", "POST"]);
    assert_eq!(matcher.headers.len(), 5);
    assert!(matches!(matcher.headers[3].1, ValuePattern::Regex(_)));
    assert_eq!((matcher.query.len(), matcher.cookies.len()), (1, 1));

    let plugin = &config.plugins[0];
    assert_eq!(&*plugin.name, "api-key");
    assert_eq!(plugin.place.as_ref().map(|place| place.line_column()), Some((55, 12)));
    assert_eq!(plugin.manifest.isolation, Isolation::Reuse);
    assert_eq!(plugin.manifest.on_failure, OnFailure::Open);
    assert_eq!(plugin.manifest.limits.memory, 1024 * 1024);
    assert_eq!((plugin.manifest.limits.queue, plugin.manifest.limits.calls), (Duration::ZERO, 7));
    assert_eq!(plugin.manifest.limits.kept_memory, 512 * 1024);
    let quarantine = plugin.manifest.quarantine;
    assert_eq!(quarantine.failures.map(u32::from), Some(3));
    assert_eq!(quarantine.window, Duration::from_secs(60));
    assert_eq!(
        (quarantine.pause, quarantine.longest_pause),
        (Duration::from_secs(2), Duration::from_secs(4))
    );
    assert!(plugin.manifest.sha256.as_ref().unwrap().starts_with("e3b0c442"));
    assert_eq!(config.routes[0].chain[1].config["percent"], 5);
}

#[test]
fn what_is_left_out_has_a_default() {
    let (_dir, path) = directory(SMALL, &[("unused", "")]).unwrap();
    let config = loaded(&path);
    assert_eq!(config.server.threads, None);
    assert_eq!(config.server.grace, Duration::from_secs(10));
    assert_eq!(config.server.underscore_headers, UnderscoreHeaders::Drop);
    assert_eq!(config.dns.servers, None);
    assert!(!config.listeners[0].h2);
    assert_eq!(config.upstreams[0].timeouts.connect, Duration::from_secs(1));
    assert_eq!(config.access_log.map(|log| log.sink), Some(LogSink::Stdout));
    assert!(config.admin.is_none() && config.plugins.is_empty());
    assert_eq!(config.unused_plugins, ["unused"]);
}

#[test]
fn the_access_log_can_be_turned_off() {
    let (_dir, path) = directory(&format!("{SMALL}[access-log]\nenabled = false\n"), &[]).unwrap();
    assert!(loaded(&path).access_log.is_none());
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_fine() {
    let (_dir, path) = directory(&format!("\u{feff}{}", SMALL.replace('\n', "\r\n")), &[]).unwrap();
    assert_eq!(loaded(&path).routes.len(), 1);
}

#[test]
fn the_key_of_a_route_wins_over_the_manifests() {
    let text = SMALL.replace(
        "upstream =",
        "plugins = [\"limit\", { name = \"limit\", config = { rate = 9 } }]\nupstream =",
    );
    let (_dir, path) = directory(&text, &[("limit", "config = { rate = 1, burst = { most = 2 } }")]).unwrap();
    let config = loaded(&path);
    assert_eq!(config.plugins.len(), 1);
    let chain = &config.routes[0].chain;
    let json = |index: usize| serde_json::Value::Object(chain[index].config.clone());
    assert_eq!(json(0), serde_json::json!({ "rate": 1, "burst": { "most": 2 } }));
    assert_eq!(json(1), serde_json::json!({ "rate": 9, "burst": { "most": 2 } }));
}

#[test]
fn upstreams_and_plugins_are_numbered_in_the_order_of_the_file() {
    let text = r#"
[[listeners]]
address = "127.0.0.1:8080"
[[listeners]]
address = "127.0.0.1:8081"
[upstreams.z]
peers = ["127.0.0.1:1"]
[[routes]]
name = "b"
plugins = ["two", "one"]
upstream = "a"
[upstreams.a]
peers = ["127.0.0.1:2"]
"#;
    let (_dir, path) = directory(text, &[("one", ""), ("two", "")]).unwrap();
    let config = loaded(&path);
    let names: Vec<&str> = config.upstreams.iter().map(|upstream| &*upstream.name).collect();
    assert_eq!(names, ["z", "a"]);
    let upstreams: Vec<_> = config.routes[0].action.upstreams().map(|id| id.index()).collect();
    assert_eq!(upstreams, [1]);
    let plugins: Vec<&str> = config.plugins.iter().map(|plugin| &*plugin.name).collect();
    assert_eq!(plugins, ["two", "one"]);
}

#[test]
fn many_routes_load() {
    let mut text = SMALL.to_owned();
    for n in 0..10_000 {
        text.push_str(&format!(
            "[[routes]]\nname = \"r{n}\"\nmatch = {{ host = \"h{n}.test\", path = \"/*\" }}\nupstream = \"api\"\n"
        ));
    }
    let (_dir, path) = directory(&text, &[]).unwrap();
    assert_eq!(loaded(&path).routes.len(), 10_001);
}

#[test]
fn many_mistakes_of_one_table_come_to_an_end() {
    let peers = "1,".repeat(20_000);
    let (_dir, path) = directory(&SMALL.replace("\"127.0.0.1:9000\"", &peers), &[]).unwrap();
    assert_eq!(config::load(&path).unwrap_err().len(), 100);
}

/// Ten thousand of whatever a route can have wrong: nextest ends what takes longer than it may.
#[test]
fn ten_thousand_mistakes_are_found_and_shown() {
    let route = |n: usize| {
        format!("{{ name = \"r{n}\", metod = \"GET\", match = {{ path = \"/{n}\" }}, upstream = \"u{n}\" }}")
    };
    let names =
        (0..10_000).map(|n| format!("[upstreams.v{n}]\npeers = [\"127.0.0.1:9000\"]\n")).collect::<String>();
    let routes = |between: &str| (0..10_000).map(route).collect::<Vec<_>>().join(between);
    let head = "[[listeners]]\naddress = \"127.0.0.1:8080\"\n";
    for between in [",\n", ", "] {
        let (_dir, path) = directory(&format!("routes = [{}]\n{head}{names}", routes(between)), &[]).unwrap();
        let found = config::load(&path).unwrap_err();
        assert_eq!(found.len(), 20_000);
        let told = config::render(&found, Color::Plain);
        assert_eq!(told.matches("error[").count(), 100);
        assert!(told.ends_with("… and 19900 more (`check --json` tells all)\n"));
        // A line as long as the file is cut where it is shown.
        assert!(told.len() < 100_000, "{}", told.len());
        let json: serde_json::Value = serde_json::to_value(&found).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 20_000);
    }
}

/// What can't be kept with the cases of `config-ui`: pipes and links.
#[test]
fn pipes_and_links_are_told_and_never_waited_for() {
    let with = |line: &str| {
        SMALL.replace("upstream = \"api\"", &format!("plugins = [\"x\"]\nupstream = \"api\"\n{line}"))
    };
    let check = |text: &str, make: &dyn Fn(&Path), expected: &[&str]| {
        let (dir, path) = directory(text, &[]).unwrap();
        make(dir.path());
        let found = config::load(&path).map_or_else(|found| found, |checked| checked.warnings);
        let told = config::render(&found, Color::Plain);
        for part in expected {
            assert!(told.contains(part), "{told}");
        }
        assert_eq!(expected.is_empty(), told.is_empty(), "{told}");
    };
    let pipe = |path: PathBuf| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
    };
    check(
        "",
        &|dir| {
            fs::remove_file(dir.join("edgewright.toml")).unwrap();
            pipe(dir.join("edgewright.toml"));
        },
        &["E0101", "is a named pipe"],
    );
    check(
        &with(""),
        &|dir| pipe(dir.join("plugins/x.wasm")),
        &["unknown plugin `x`", "x.wasm` is a named pipe"],
    );
    check(&with(""), &|dir| fs::create_dir(dir.join("plugins/x.wasm")).unwrap(), &["x.wasm` is a directory"]);
    check(
        &with(""),
        &|dir| {
            std::os::unix::fs::symlink("gone.wasm", dir.join("plugins/x.wasm")).unwrap();
            fs::write(dir.join("plugins/x.toml"), "").unwrap();
        },
        &[
            "x.wasm` is a link to `gone.wasm`, which is not there",
            "W0606",
            "help: `x.wasm` beside it is a link",
        ],
    );
    check(
        &with(""),
        &|dir| {
            fs::write(dir.join("plugins/x.wasm"), "").unwrap();
            pipe(dir.join("plugins/x.toml"));
        },
        &["E0101", "plugins/x.toml` is a named pipe", "--> "],
    );
    let log = format!("{SMALL}[access-log]\npath = \"log\"\n");
    check(&log, &|_| {}, &[]);
    check(&log, &|dir| pipe(dir.join("log")), &["E0702", "`log` is a named pipe"]);
    check(
        &log,
        &|dir| std::os::unix::fs::symlink("gone/log", dir.join("log")).unwrap(),
        &["E0702", "/gone`"],
    );
    check(&log, &|dir| std::os::unix::fs::symlink("other", dir.join("log")).unwrap(), &[]);
    check(&log, &|dir| std::os::unix::fs::symlink("/dev/null", dir.join("log")).unwrap(), &[]);
}

#[test]
fn checking_makes_no_access_log() {
    let (dir, path) = directory(&format!("{SMALL}[access-log]\npath = \"log\"\n"), &[]).unwrap();
    loaded(&path);
    assert!(!dir.path().join("log").exists());
    let off = format!("{SMALL}[access-log]\nenabled = false\npath = \"nowhere/log\"\n");
    fs::write(&path, off).unwrap();
    assert!(loaded(&path).access_log.is_none());
}

#[test]
fn a_refused_configuration_is_placed_in_the_file_it_is_in() {
    let text = SMALL
        .replace("upstream =", "plugins = [\"a\", \"b\", { name = \"b\", config = { x = 2 } }]\nupstream =");
    let (_dir, path) = directory(&text, &[("a", ""), ("b", "\nconfig = { x = 1 }")]).unwrap();
    let config = loaded(&path);
    let places = config.routes[0].chain.iter().map(|used| {
        let place = used.place.as_ref().unwrap();
        (place.file.path.file_name().unwrap().to_str().unwrap(), place.line_column())
    });
    let places: Vec<_> = places.collect();
    assert_eq!(places, [("edgewright.toml", (8, 12)), ("b.toml", (2, 10)), ("edgewright.toml", (8, 22))]);
}

#[test]
fn no_part_of_a_file_makes_loading_panic() {
    let (_dir, path) = directory("", &[("api-key", ""), ("canary", "")]).unwrap();
    let check = |text: &str| {
        fs::write(&path, text).unwrap();
        let found = config::load(&path).map_or_else(|found| found, |checked| checked.warnings);
        config::render(&found, Color::Ansi);
        serde_json::to_string(&found).unwrap();
    };
    for end in 0..EVERYTHING.len() {
        check(&EVERYTHING[..end]);
    }
    let lines: Vec<&str> = EVERYTHING.lines().collect();
    for left_out in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != left_out);
        check(&kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n"));
    }
    for wrong in ["0", "\"\"", "[]", "{}", "true", "nan", "1979-05-27", "[[]]", "\"é\""] {
        for (index, _) in EVERYTHING.match_indices(" = ") {
            let line_end = EVERYTHING[index..].find('\n').map_or(EVERYTHING.len(), |end| index + end);
            check(&format!("{} = {wrong}{}", &EVERYTHING[..index], &EVERYTHING[line_end..]));
        }
    }
}
