//! Bounds that a route sets.

use edgewright_tests::{Connection, Origin, Setup, ask, get};

#[test]
fn a_body_over_the_routes_limit_is_refused() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .upstream("main", &origin)
        .route("small", "match = { path = \"/small\" }\nmax-body = \"1KiB\"", "main")
        .route("none", "match = { path = \"/none\" }\nmax-body = \"0KiB\"", "main")
        .route("all", "", "main")
        .start();
    let told = |target: &str, length: usize, status: u16| {
        let response = proxy.ask(&ask("POST", target).body("x".repeat(length)));
        assert_eq!(response.status, status, "{length} to {target}");
        if status == 413 {
            assert_eq!(response.field("connection").as_deref(), Some("close"), "{target}");
        }
    };
    told("/small", 1024, 200);
    told("/none", 0, 200);
    told("/all", 100_000, 200);
    let before = origin.requests().len();
    told("/small", 1025, 413);
    told("/none", 1, 413);
    assert_eq!(origin.requests().len(), before, "refused before a peer is chosen");

    // Without a length, it is counted.
    let chunked = |target: &str, chunks: usize| {
        let mut client = Connection::open(proxy.address());
        client.send(format!("POST {target} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"));
        for _ in 0..chunks {
            client.send(format!("200\r\n{}\r\n", "x".repeat(512)));
        }
        client.send("0\r\n\r\n");
        client.response_to("POST").status
    };
    assert_eq!(chunked("/small", 2), 200);
    assert_eq!(chunked("/small", 3), 413);
    let lines = proxy.access_log(7);
    let refused = lines.iter().filter(|line| line["status"] == 413);
    assert!(refused.clone().all(|line| line["error"] == "body-too-large"), "{lines:#?}");
    assert_eq!(refused.count(), 3);
    // The peer's connection that was left half-way serves nobody else.
    assert_eq!(proxy.get("/small").status, 200);
}

#[test]
fn a_quiet_route_has_no_lines_in_the_log() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .upstream("main", &origin)
        .route("quiet", "match = { path = \"/healthz\" }\naccess-log = false", "main")
        .route("all", "", "main")
        .start();
    let mut client = proxy.connect();
    for target in ["/healthz", "/a", "/healthz", "/b"] {
        assert_eq!(client.ask(&get(target)).status, 200, "{target}");
    }
    let lines = proxy.access_log(2);
    assert_eq!((&lines[0]["target"], &lines[1]["target"]), (&"/a".into(), &"/b".into()));
    // It is counted all the same.
    let counted =
        proxy.metrics_at_rest().sum("edgewright_requests_total", &[("route", "quiet"), ("class", "2xx")]);
    assert_eq!(counted as usize, 2);
}

#[test]
fn a_route_has_time_limits_of_its_own() {
    let gate = edgewright_tests::Gate::default();
    let held = gate.clone();
    let origin = Origin::script(move |request, wire| {
        if request.target() == "/trickle" {
            // A piece every now and then: no single read takes long.
            wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            while wire.send(b"1\r\nx\r\n").is_ok() {}
            return Ok(());
        }
        held.pass();
        wire.send(edgewright_tests::origin::OK.as_bytes())
    });
    let proxy = Setup::new()
        .upstream("main", &origin)
        .route("read", "match = { path = \"/read\" }\ntimeouts = { read = \"100ms\" }", "main")
        .route("total", "match = { path = \"/total\" }\ntimeouts = { total = \"100ms\" }", "main")
        .route("trickle", "match = { path = \"/trickle\" }\ntimeouts = { total = \"200ms\" }", "main")
        .route("all", "", "main")
        .start();
    // The upstream's own limit is 30 s, which is more than the kit has patience.
    proxy.get("/read").expect_status(504);
    proxy.get("/total").expect_status(504);
    let mut client = proxy.connect();
    client.send("GET /trickle HTTP/1.1\r\nHost: a.test\r\n\r\n");
    assert!(client.try_response_to("GET").is_err(), "a body without an end is cut");
    let lines = proxy.access_log(3);
    assert!(lines.iter().all(|line| line["error"] == "upstream-timeout"), "{lines:#?}");
    gate.open();
    proxy.get("/other").expect_status(200);
    let told = edgewright_tests::edgewright(
        &["explain", "--config", "edgewright.toml", "GET", "http://a.test/total"],
        proxy.directory(),
    );
    assert!(told.expect_code(0).stdout.contains("time limits of the route: total 100ms"));
}
