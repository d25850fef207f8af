//! Reloads: a changed configuration is taken while traffic flows, whole or not at all.

use edgewright_tests::origin::nobody;
use edgewright_tests::{
    Component, DEADLINE, Gate, Load, Origin, Proxy, Response, Setup, edgewright, get, guest, wait_for,
};
use rustix::process::Signal;
use serde_json::Value;

/// Tells in a field what the request's plugins marked it with, and holds `/slow` back.
fn marked(gate: &Gate) -> Origin {
    let held = gate.clone();
    Origin::script(move |request, wire| {
        if request.target() == "/slow" {
            held.pass();
        }
        let mark = request.field("x-mark").unwrap_or_default();
        wire.send(format!("HTTP/1.1 200 OK\r\nX-Asked: {mark}\r\nContent-Length: 2\r\n\r\nok").as_bytes())
    })
}

/// A component with another hash that does the same: one more custom section.
fn version(component: &Component, version: u8) -> Vec<u8> {
    let mut bytes = component.bytes();
    bytes.extend([0, 4, 2, b'v', b'=', version]);
    bytes
}

fn manifest(version: u8) -> String {
    format!("isolation = \"reuse\"\nconfig = {{ name = \"{version}\" }}")
}

fn start(origin: &Origin) -> Proxy {
    Setup::new()
        .plugin("mark", &version(&guest("mark"), 1).into(), &manifest(1))
        .upstream("main", origin)
        .route_all(r#"["mark"]"#, "main")
        .start()
}

fn put_version(proxy: &Proxy, number: u8) {
    proxy.put("plugins/mark.wasm", version(&guest("mark"), number));
    proxy.put("plugins/mark.toml", manifest(number));
}

/// The version that served both phases.
fn served_by(response: &Response) -> String {
    assert_eq!(response.status, 200, "{:?}", response.head);
    let (request, answer) = (response.field("x-asked"), response.field("x-mark"));
    assert_eq!(request, answer, "both phases are of one version");
    answer.expect("a mark")
}

fn report(response: &Response) -> Value {
    serde_json::from_slice(&response.body).expect("JSON")
}

#[test]
fn case_25_a_plugin_update_under_load_loses_nothing() {
    let gate = Gate::default();
    let origin = marked(&gate);
    let proxy = start(&origin);
    let load = Load::start(proxy.address(), 4, &get("/x"), |response| drop(served_by(response)));
    let mut settled = 0;
    for number in 2..=8 {
        load.wait_for(50);
        put_version(&proxy, number);
        let answer = report(&proxy.reload().expect_status(200));
        assert_eq!((&answer["outcome"], &answer["generation"]), (&"applied".into(), &number.into()));
        assert_eq!(served_by(&proxy.get("/x")), number.to_string(), "the new version serves at once");
        if number == 4 {
            settled = proxy.resident();
        }
    }
    load.wait_for(50);
    assert!(load.stop() > 350);
    wait_for(DEADLINE, "earlier generations to be taken down", || {
        proxy.metrics().sum("edgewright_generations_draining", &[]) == 0.0
    });
    let (before, after) = (settled, proxy.resident());
    assert!(after < before + before / 4, "{before} KiB after 3 reloads, {after} KiB after 7");
}

#[test]
fn a_request_ends_with_the_generation_it_began_with() {
    let gate = Gate::default();
    let origin = marked(&gate);
    let proxy = start(&origin);
    let mut slow = proxy.connect();
    slow.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    put_version(&proxy, 2);
    let _ = proxy.reload().expect_status(200);
    assert_eq!(served_by(&proxy.get("/x")), "2");
    assert_eq!(proxy.metrics().sum("edgewright_generations_draining", &[]), 1.0);
    gate.open();
    assert_eq!(served_by(&slow.response_to("GET")), "1");
    wait_for(DEADLINE, "the first generation to be taken down", || {
        proxy.metrics().sum("edgewright_generations_draining", &[]) == 0.0
    });
    // The connection is the same one, and its next request is of the new generation.
    assert_eq!(served_by(&slow.ask(&get("/x"))), "2");
}

#[test]
fn a_hangup_reloads() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    put_version(&proxy, 2);
    proxy.signal(Signal::HUP);
    wait_for(DEADLINE, "the new version", || served_by(&proxy.get("/x")) == "2");
    let line = proxy.wait_for_log("reloaded");
    assert!(line.contains("generation=2"), "{line}");
    let status = proxy.status();
    assert_eq!(status["generation"], 2);
    assert_eq!(status["last-reload"]["trigger"], "signal");
    assert_eq!(status["last-reload"]["outcome"], "applied");
}

#[test]
fn p18_a_plugin_that_is_gone_keeps_the_last_good_generation() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    std::fs::remove_file(proxy.directory().join("plugins/mark.wasm")).unwrap();
    let answer = report(&proxy.reload().expect_status(422));
    assert_eq!((&answer["outcome"], &answer["generation"]), (&"refused".into(), &1.into()));
    assert_eq!(answer["diagnostics"][0]["code"], "E0602");
    assert!(answer["text"].as_str().is_some_and(|text| text.contains("edgewright.toml:")), "{answer}");
    assert_eq!(served_by(&proxy.get("/x")), "1");
    let line = proxy.wait_for_log("not reloaded");
    assert!(line.contains("ERROR") && line.contains("outcome=\"refused\""), "{line}");
    let _ = proxy.wait_for_log("unknown plugin `mark`");
    assert_eq!(proxy.status()["last-reload"]["outcome"], "refused");
    assert_eq!(proxy.status()["last-reload"]["diagnostics"][0]["code"], "E0602");
    let metrics = proxy.metrics();
    let check = |name, labels: &[(&str, &str)], expected: f64| {
        assert!((metrics.sum(name, labels) - expected).abs() < f64::EPSILON, "{name} {labels:?}");
    };
    check("edgewright_reloads_total", &[("outcome", "refused")], 1.0);
    check("edgewright_reloads_total", &[("outcome", "applied")], 0.0);
    check("edgewright_config_generation", &[], 1.0);
}

#[test]
fn p23_a_truncated_plugin_keeps_the_last_good_one() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    let whole = version(&guest("mark"), 2);
    proxy.put("plugins/mark.wasm", &whole[..whole.len() / 2]);
    let answer = report(&proxy.reload().expect_status(422));
    assert_eq!(answer["diagnostics"][0]["code"], "E0650", "{answer}");
    assert_eq!(served_by(&proxy.get("/x")), "1");
    put_version(&proxy, 2);
    let _ = proxy.reload().expect_status(200);
    assert_eq!(served_by(&proxy.get("/x")), "2");
}

#[test]
fn what_is_the_same_is_taken_over() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    assert_eq!(served_by(&proxy.get("/x")), "1");
    let instances = || proxy.metrics().sum("edgewright_plugin_instances", &[("plugin", "mark")]);
    let before = instances();
    assert!(before > 0.0);
    proxy.edit_config(|text| format!("{text}\n[upstreams.spare]\npeers = [\"127.0.0.1:9\"]"));
    let _ = proxy.reload().expect_status(200);
    assert!((instances() - before).abs() < f64::EPSILON, "{before} instances, then {}", instances());
    assert!(proxy.status().to_string().contains("spare"));
}

#[test]
fn instances_are_there_before_the_first_request() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    let instances = || proxy.metrics().sum("edgewright_plugin_instances", &[("plugin", "mark")]);
    let before = instances();
    assert!(before >= 1.0, "{before} at the start");
    put_version(&proxy, 2);
    let _ = proxy.reload().expect_status(200);
    // Those of the earlier generation are gone with it.
    wait_for(DEADLINE, "as many of the new version", || (instances() - before).abs() < f64::EPSILON);
    assert_eq!(served_by(&proxy.get("/x")), "2");
    assert!((instances() - before).abs() < f64::EPSILON, "no other was made");
}

#[test]
fn metrics_of_what_is_gone_are_gone() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    assert_eq!(served_by(&proxy.get("/x")), "1");
    let calls = "edgewright_plugin_calls_total";
    assert!(proxy.metrics().has(calls, &[("plugin", "mark")]));
    assert!(proxy.metrics().has("edgewright_requests_total", &[("route", "all")]));
    proxy.edit_config(|text| {
        text.replace("name = \"all\"", "name = \"other\"").replace("plugins = [\"mark\"]", "")
    });
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/x").status, 200);
    wait_for(DEADLINE, "the metrics to go", || !proxy.metrics().has(calls, &[("plugin", "mark")]));
    let metrics = proxy.metrics();
    assert!(!metrics.has("edgewright_plugin_instances", &[("plugin", "mark")]));
    assert!(!metrics.has("edgewright_requests_total", &[("route", "all")]));
    assert!(metrics.has("edgewright_requests_total", &[("route", "other")]));
}

#[test]
fn what_the_process_was_started_with_needs_a_restart() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    let check = |from: &str, to: &str, expected: &str| {
        proxy.edit_config(|text| text.replace(from, to));
        let answer = report(&proxy.reload().expect_status(409));
        let text = answer["text"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains("E0801") && text.contains(expected), "`{expected}` in {text}");
        assert_eq!(served_by(&proxy.get("/x")), "1");
        proxy.edit_config(|text| text.replace(to, from));
    };
    check("threads = 2", "threads = 3", "`server.threads` changed");
    let admin = proxy.admin_address();
    check(&admin.to_string(), "127.0.0.1:7", "`[admin]` changed");
    // Protocols and certificates are those of the generation.
    proxy.edit_config(|text| text.replace(r#"protocols = ["h1"]"#, r#"protocols = ["h1", "h2"]"#));
    let _ = proxy.reload().expect_status(200);
}

#[test]
fn only_a_post_from_this_machine_reloads() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let response = proxy.admin("/reload");
    assert_eq!((response.status, response.field("allow").as_deref()), (405, Some("POST")));
    assert_eq!(proxy.status()["generation"], 1);
    assert_eq!(proxy.reload().status, 200);
    assert_eq!(proxy.status()["generation"], 2);
}

#[test]
fn the_access_log_moves_with_the_configuration_and_is_opened_anew() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .access_log("path = \"one.log\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let lines = |file: &str| {
        std::fs::read_to_string(proxy.directory().join(file)).unwrap_or_default().lines().count()
    };
    let wait = |file: &str, count: usize| {
        wait_for(DEADLINE, &format!("{count} lines in {file}"), || lines(file) == count);
    };
    assert_eq!(proxy.get("/1").status, 200);
    wait("one.log", 1);
    // As `logrotate` does.
    std::fs::rename(proxy.directory().join("one.log"), proxy.directory().join("one.log.1")).unwrap();
    proxy.signal(Signal::USR1);
    let _ = proxy.wait_for_log("opened anew");
    wait_for(DEADLINE, "the new file", || proxy.directory().join("one.log").exists());
    assert_eq!(proxy.get("/2").status, 200);
    wait("one.log", 1);
    assert_eq!(lines("one.log.1"), 1);
    // Another file.
    proxy.edit_config(|text| text.replace("one.log", "two.log"));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/3").status, 200);
    wait("two.log", 1);
    assert_eq!(lines("one.log"), 1);
    // Off, and on again.
    proxy.edit_config(|text| text.replace("path = \"two.log\"", "enabled = false"));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/4").status, 200);
    proxy.edit_config(|text| text.replace("enabled = false", "path = \"two.log\""));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/5").status, 200);
    wait("two.log", 2);
    wait_for(DEADLINE, "four lines to be counted", || {
        proxy.metrics().sum("edgewright_access_log_lines_total", &[]) == 4.0
    });
}

#[test]
fn the_command_says_what_became_of_it() {
    let origin = marked(&Gate::default());
    let proxy = start(&origin);
    let run = |arguments: &[&str]| edgewright(&[&["reload"], arguments].concat(), proxy.directory());
    let finished = run(&[]).expect_code(0);
    assert_eq!(finished.stdout, "reloaded: generation 2 serves\n");
    proxy.edit_config(|text| text.replace("upstream = \"main\"", "upstream = \"mian\""));
    let finished = run(&["--config", "edgewright.toml"]).expect_code(1);
    for text in ["error[E0503]", "edgewright.toml:", "`main`", "generation 2 goes on"] {
        assert!(finished.stderr.contains(text), "`{text}` in {}", finished.stderr);
    }
    let finished = run(&["--json"]).expect_code(1);
    let answer: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(answer["diagnostics"][0]["code"], "E0503");
    // Nobody there, and somebody else there.
    let finished = run(&["--admin", &nobody().to_string()]).expect_code(3);
    assert!(finished.stderr.contains("no proxy answers"), "{}", finished.stderr);
    let _ = run(&["--admin", &origin.address().to_string()]).expect_code(3);
    // Without an address to ask at.
    proxy.edit_config(|text| text.replace("[admin]\naddress", "[admin]\naddres"));
    let finished = run(&[]).expect_code(1);
    assert!(finished.stderr.contains("addres"), "{}", finished.stderr);
}

#[test]
fn the_configuration_that_serves_is_shown_without_secrets() {
    let origin = marked(&Gate::default());
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "config = { name = \"secret-of-manifest\" }")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "secret-of-route" } }]"#, "main")
        .start();
    let shown = || proxy.admin("/config").expect_status(200).text();
    for text in ["\"mark\"", "\"***\"", &origin.address().to_string(), "edgewright.toml"] {
        assert!(shown().contains(text), "`{text}` in {}", shown());
    }
    assert!(!shown().contains("secret"), "{}", shown());
    proxy.edit_config(|text| text.replace("name = \"all\"", "name = \"renamed\""));
    assert!(!shown().contains("renamed"), "not before it serves");
    let _ = proxy.reload().expect_status(200);
    assert!(shown().contains("renamed"));
}
