//! Metrics that plugins define, in the real proxy.

use edgewright_tests::{Origin, Setup, get, guest};

#[test]
fn what_a_plugin_counts_is_in_the_metrics() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mine", &guest("metrics"), "grants = { metrics = true }\nlimits = { series = 5 }")
        .upstream("main", &origin)
        .route_all("[\"mine\"]", "main")
        .start();
    for (kind, size, status) in
        [("a", "5", 200), ("a", "50", 200), ("b", "500", 200), ("c", "7", 200), ("d", "1", 507)]
    {
        let response = proxy.ask(&get("/").header("x-kind", kind).header("x-size", size));
        assert_eq!(response.status, status, "{kind}: {}", response.text());
    }
    let metrics = proxy.metrics_at_rest();
    let plugin = ("plugin", "mine");
    let sum = |name: &str, label: (&str, &str)| {
        metrics.sum(&format!("edgewright_plugin_custom_{name}"), &[plugin, label])
    };
    assert_eq!(sum("requests_total", ("kind", "a")), 2.0);
    assert_eq!(sum("requests_total", ("kind", "b")), 1.0);
    assert!(!metrics.has("edgewright_plugin_custom_requests_total", &[("kind", "d")]), "there was no room");
    assert_eq!(sum("size_bytes_bucket", ("le", "10.0")), 3.0);
    assert_eq!(sum("size_bytes_bucket", ("le", "+Inf")), 5.0);
    assert_eq!(sum("last_size_bytes", plugin), 1.0);
}

#[test]
fn p20_metrics_need_a_grant() {
    let origin = Origin::ok();
    let finished = Setup::new()
        .plugin("mine", &guest("metrics"), "grants = { kv = true }")
        .upstream("main", &origin)
        .route_all("[\"mine\"]", "main")
        .run_to_end()
        .expect_code(1);
    assert!(
        finished.stderr.contains("needs what its manifest does not grant: `metrics`"),
        "{}",
        finished.stderr
    );
}
