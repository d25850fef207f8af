//! The admin address: health, readiness, status and metrics, apart from the public listeners.

use edgewright_tests::{Origin, Setup, get, guest};

#[test]
fn health_and_readiness_are_told_to_those_who_probe() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let check = |path: &str, status: u16| assert_eq!(proxy.admin(path).status, status, "{path}");
    check("/healthz", 200);
    check("/readyz", 200);
    check("/metrics", 200);
    check("/status", 200);
    check("/", 200);
    check("/absent", 404);
    check("/etc/passwd", 404);
    assert!(origin.requests().is_empty());
    // The public side has none of it: it is the route's.
    assert_eq!(proxy.get("/metrics").text(), "ok");
    assert_eq!(origin.last().target(), "/metrics");
}

#[test]
fn metrics_show_what_each_plugin_costs() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(
            r#"[{ name = "mark", config = { name = "m" } }, { name = "answer", config = { status = 403, when = "x-deny" } }]"#,
            "main",
        )
        .start();
    for _ in 0..5 {
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(proxy.ask(&get("/x").header("X-Deny", "1")).status, 403);
    }
    let metrics = proxy.metrics_at_rest();
    let scrape = proxy.admin("/metrics").expect_status(200);
    assert!(
        scrape.field("content-type").is_some_and(|kind| kind.starts_with("application/openmetrics-text"))
    );
    assert!(scrape.text().trim_end().ends_with("# EOF"));
    let check = |name: &str, labels: &[(&str, &str)], expected: f64| {
        let found = metrics.sum(name, labels);
        assert!((found - expected).abs() < f64::EPSILON, "{name} {labels:?}: {found}\n{}", scrape.text());
    };
    let calls = "edgewright_plugin_calls_total";
    check(calls, &[("plugin", "mark"), ("phase", "request-filter"), ("outcome", "next")], 10.0);
    check(calls, &[("plugin", "mark"), ("phase", "response-filter"), ("outcome", "next")], 10.0);
    check(calls, &[("plugin", "answer"), ("phase", "request-filter"), ("outcome", "respond")], 5.0);
    check(calls, &[("plugin", "answer"), ("phase", "request-filter"), ("outcome", "next")], 5.0);
    check(
        "edgewright_plugin_call_duration_seconds_count",
        &[("plugin", "mark"), ("phase", "request-filter")],
        10.0,
    );
    check("edgewright_plugin_failures_total", &[], 0.0);
    check("edgewright_upstream_peers", &[("upstream", "main")], 1.0);
    check("edgewright_requests_total", &[], 10.0);
}

#[test]
fn status_names_what_is_running() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "m" } }]"#, "main")
        .start();
    let status = proxy.status().to_string();
    let address = proxy.address().to_string();
    let peer = origin.address().to_string();
    for text in ["mark", "main", "all", "request-filter", "version", address.as_str(), peer.as_str()] {
        assert!(status.contains(text), "`{text}` in {status}");
    }
}
