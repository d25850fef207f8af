//! What one plugin does to everybody else: nothing. The table of hostile plugins, as far as it is not in
//! [`crate::limits`], [`crate::faults`] and [`crate::load`].

use edgewright_tests::{Component, DEADLINE, Metrics, Origin, Proxy, Setup, get, guest, wait_for};

fn instances(metrics: &Metrics, plugin: &str, state: &str) -> f64 {
    metrics.sum("edgewright_plugin_instances", &[("plugin", plugin), ("state", state)])
}

fn is_nought(value: f64) -> bool {
    value.abs() < f64::EPSILON
}

/// Two routes on one worker: `/spin` has a plugin that loops when asked to, everything else has none.
fn beside_a_loop(manifest: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .plugin("spin", &guest("spin"), manifest)
        .upstream("main", origin)
        .route("spin", "match = { path = \"/spin\" }\nplugins = [\"spin\"]", "main")
        .route("plain", "", "main")
        .start()
}

#[test]
fn p01_one_request_in_ten_that_traps_is_one_in_ten_that_fails() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start();
    let mut client = proxy.connect();
    for number in 0..500 {
        let boom = number % 10 == 3;
        let request = if boom { get("/x").header("X-Boom", "1") } else { get("/x") };
        assert_eq!(client.ask(&request).status, if boom { 503 } else { 200 }, "request {number}");
    }
    assert!(is_nought(proxy.metrics_at_rest().sum("edgewright_plugin_quarantined", &[])));
}

#[test]
fn p02_a_panic_with_a_long_message_is_a_short_line() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("trap", &guest("trap"), "")
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start();
    assert_eq!(proxy.ask(&get("/x").header("X-Boom", "long")).status, 503);
    proxy.wait_for_log("plugin failed");
    let longest = proxy.stderr().lines().map(str::len).max().unwrap_or_default();
    assert!(longest < 3_000, "{longest} bytes in one line");
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn p03_a_loop_leaves_the_other_routes_of_its_worker_alone() {
    let origin = Origin::ok();
    let proxy = beside_a_loop("limits = { time = \"1s\", queue = \"0s\" }", &origin);
    let mut looping = proxy.connect();
    looping.send(get("/spin").header("X-Loop", "1").bytes());
    wait_for(DEADLINE, "the loop", || instances(&proxy.metrics(), "spin", "busy") > 0.0);
    let mut others = 0;
    let mut client = proxy.connect();
    while instances(&proxy.metrics(), "spin", "busy") > 0.0 {
        assert_eq!(client.ask(&get("/x")).status, 200);
        others += 1;
    }
    assert!(others >= 1, "{others} requests beside the loop");
    assert_eq!(looping.response_to("GET").status, 503);
}

#[test]
fn p14_a_flood_of_log_lines_is_cut_and_counted() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("flood", &guest("flood"), "limits = { time = \"5s\" }")
        .upstream("main", &origin)
        .route_all(r#"["flood"]"#, "main")
        .start();
    assert_eq!(proxy.ask(&get("/x").header("X-Lines", "9000")).status, 200);
    let written = || proxy.stderr().lines().filter(|line| line.contains("a line of the flood")).count();
    // The log has a thread of its own, which may still be at it.
    wait_for(DEADLINE, "the first lines", || written() > 0);
    // The next second's line says how many were left out.
    wait_for(DEADLINE, "what was left out", || {
        assert_eq!(proxy.ask(&get("/x").header("X-Lines", "1")).status, 200);
        proxy.stderr().contains("plugin wrote too many lines")
    });
    assert!(written() <= 2_000, "{} lines of 9,000", written());
}

#[test]
fn p16_busy_instances_are_a_503_in_time_and_the_gauge_returns() {
    let origin = Origin::ok();
    let manifest = "limits = { time = \"400ms\", instances = 2, queue = \"20ms\" }";
    let proxy = beside_a_loop(manifest, &origin);
    let ask = get("/spin").header("X-Loop", "1");
    let (mut cut, mut busy) = (0, 0);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..32).map(|_| scope.spawn(|| proxy.ask(&ask))).collect();
        for call in calls {
            let response = call.join().expect("a response").expect_status(503);
            assert!(response.head.has("x-request-id"));
        }
    });
    for line in proxy.access_log(32) {
        match line["error"].as_str() {
            Some("time-limit") => cut += 1,
            Some("plugin-busy") => busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(cut >= 2 && busy >= 1, "{cut} were cut, {busy} turned away");
    // Idle ones are made ahead.
    wait_for(DEADLINE, "the gauges to return", || {
        let metrics = proxy.metrics();
        ["busy", "building"].iter().all(|state| is_nought(instances(&metrics, "spin", state)))
    });
    let metrics = proxy.metrics();
    assert!(metrics.sum("edgewright_plugin_pool_wait_seconds_count", &[("plugin", "spin")]) >= 1.0);
    assert_eq!(proxy.get("/spin").status, 200);
}

/// Clients that are gone while their guest is suspended: their instances come free.
#[test]
fn p17_clients_that_go_away_leave_no_instance_behind() {
    let origin = Origin::ok();
    let proxy = beside_a_loop("limits = { time = \"100ms\", instances = 4, queue = \"0s\" }", &origin);
    for _ in 0..20 {
        let mut gone = proxy.connect();
        gone.send(get("/spin").header("X-Loop", "1").bytes());
        drop(gone);
    }
    wait_for(DEADLINE, "the instances to come free", || {
        assert_eq!(proxy.get("/x").status, 200);
        is_nought(instances(&proxy.metrics(), "spin", "busy"))
    });
    assert_eq!(proxy.get("/spin").status, 200);
}

#[test]
fn p18_a_plugin_that_is_not_there_is_named_with_its_place() {
    let origin = Origin::ok();
    let finished =
        Setup::new().upstream("main", &origin).route_all(r#"["absent"]"#, "main").run_to_end().expect_code(1);
    let said = finished.said();
    assert!(said.contains("`absent`") && said.contains("edgewright.toml:"), "{said}");
}

#[test]
fn p21_a_damaged_file_is_an_error_and_no_crash() {
    let origin = Origin::ok();
    let whole = guest("trap").bytes();
    let check = |what: &str, bytes: Vec<u8>| {
        let finished = Setup::new()
            .plugin("suspect", &Component::Bytes(bytes), "")
            .upstream("main", &origin)
            .route_all(r#"["suspect"]"#, "main")
            .command(&["check", "edgewright.toml"]);
        let said = finished.said();
        assert!(matches!(finished.code, Some(0 | 1)), "{what}: {said}");
        assert!(!said.contains("panicked at host/"), "{what}: {said}");
    };
    for part in [1, 8, 100, whole.len() / 2, whole.len() - 1] {
        check("cut", whole.get(..part).expect("less than all").to_vec());
    }
    for seed in 1..6_usize {
        let mut bytes = whole.clone();
        let place = seed * 7_919 % bytes.len();
        bytes[place] ^= 1 << (seed % 8);
        check("flipped", bytes);
    }
}

/// No environment, no arguments, no files, no standard input; a clock and random numbers.
#[test]
fn p28_a_guest_sees_nothing_of_the_machine() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("nosy", &guest("nosy"), "")
        .upstream("main", &origin)
        .route_all(r#"["nosy"]"#, "main")
        .start();
    assert_eq!(proxy.get("/x").status, 200);
    let seen = origin.last();
    for (header, expected) in [
        ("x-environment", "0"),
        ("x-arguments", "0"),
        ("x-files", "0"),
        ("x-input", "0"),
        ("x-clock", "true"),
    ] {
        assert_eq!(seen.field(header).as_deref(), Some(expected), "{header}");
    }
}

#[test]
fn a_plugin_that_always_fails_is_left_out_seen_and_taken_back() {
    let origin = Origin::ok();
    let manifest = "quarantine = { failures = 5, pause = \"1s\", longest-pause = \"1s\" }";
    let proxy = Setup::new()
        .plugin("trap", &guest("trap"), manifest)
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start();
    let boom = get("/x").header("X-Boom", "1");
    let quarantined = |reason: &str| {
        proxy.metrics().sum("edgewright_plugin_failures_total", &[("plugin", "trap"), ("reason", reason)])
    };
    wait_for(DEADLINE, "the quarantine", || {
        assert_eq!(proxy.ask(&boom).status, 503);
        quarantined("quarantined") > 0.0
    });
    proxy.wait_for_log("plugin in quarantine");
    // One call after the pause decides.
    wait_for(DEADLINE, "its end", || proxy.get("/x").status == 200);
    proxy.wait_for_log("plugin out of quarantine");
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    let metrics = proxy.metrics();
    let labels = [("plugin", "trap"), ("phase", "request-filter")];
    assert!(metrics.has("edgewright_plugin_quarantined", &labels));
    assert!(is_nought(metrics.sum("edgewright_plugin_quarantined", &labels)));
}
