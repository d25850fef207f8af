//! Plugins that fail: each costs its own request and nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};

use edgewright_tests::{Connection, Metrics, Origin, Proxy, Setup, get, guest};

/// Calls that failed, by the plugin's name.
pub(crate) fn failures(metrics: &Metrics, plugin: &str) -> f64 {
    metrics.sum("edgewright_plugin_failures_total", &[("plugin", plugin)])
}

fn resident_kib(proxy: &Proxy) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", proxy.id())).expect("a process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

#[test]
fn case_21_p01_p02_a_trapping_plugin_costs_one_request() {
    for isolation in ["fresh", "reuse"] {
        fails_closed(isolation);
        fails_open(isolation);
    }
}

fn trapping(isolation: &str, on_failure: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .plugin(
            "trap",
            &guest("trap"),
            &format!("isolation = \"{isolation}\"\non-failure = \"{on_failure}\""),
        )
        .upstream("main", origin)
        .route_all(r#"["trap"]"#, "main")
        .start()
}

fn fails_closed(isolation: &str) {
    let origin = Origin::ok();
    let proxy = trapping(isolation, "closed", &origin);
    let boom = proxy.ask(&get("/x").header("X-Boom", "1")).expect_status(503);
    assert!(!boom.body.is_empty() && boom.head.has("x-request-id"));
    assert!(!boom.text().contains("boom"), "{}", boom.text());
    assert_eq!(origin.connections(), 0);
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(origin.last().field("x-seen").as_deref(), Some("1"));
    }
    let before = resident_kib(&proxy);
    let (booms, normals) = mixed(&proxy, 503);
    assert_eq!((booms, normals), (200, 200));
    let seen = origin.requests();
    assert_eq!(seen.len(), 220);
    assert!(seen.iter().all(|request| request.field("x-seen").as_deref() == Some("1")));
    assert!((failures(&proxy.metrics(), "trap") - 201.0).abs() < f64::EPSILON);
    let grown = resident_kib(&proxy).saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB more after 200 traps ({isolation})");
    // The log says who, where and why.
    let line = proxy.wait_for_log("plugin failed");
    assert!(
        line.contains("ERROR") && line.contains("plugin=\"trap\"") && line.contains("request-filter"),
        "{line}"
    );
    assert!(line.contains("light_the_fuse"), "the guest's functions by name: {line}");
    assert!(proxy.stderr().contains("boom"), "the guest's own message is in the log");
    let lines = proxy.access_log(421);
    let failed: Vec<_> = lines.iter().filter(|line| line["status"] == 503).collect();
    assert_eq!(failed.len(), 201);
    assert!(
        failed.iter().all(|line| line["decided-by"] == "trap" && line["error"] == "trap"),
        "{}",
        failed[0]
    );
}

fn fails_open(isolation: &str) {
    let origin = Origin::ok();
    let proxy = trapping(isolation, "open", &origin);
    let boom = proxy.ask(&get("/x").header("X-Boom", "1"));
    assert_eq!(boom.status, 200);
    assert!(!origin.last().head.has("x-seen"));
    let (booms, normals) = mixed(&proxy, 200);
    assert_eq!((booms, normals), (200, 200));
    for request in origin.requests() {
        let expected = if request.head.has("x-boom") { None } else { Some("1") };
        assert_eq!(request.field("x-seen").as_deref(), expected);
    }
    assert!((failures(&proxy.metrics(), "trap") - 201.0).abs() < f64::EPSILON);
}

/// 200 requests that trap and 200 that don't, over 16 connections: how many of each were answered as
/// expected.
fn mixed(proxy: &Proxy, boom_status: u16) -> (usize, usize) {
    let (booms, normals) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = Connection::open(proxy.address());
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= 400 {
                        return;
                    }
                    let (request, status, count) = if number.is_multiple_of(2) {
                        (get("/x").header("X-Boom", "1"), boom_status, &booms)
                    } else {
                        (get("/x"), 200, &normals)
                    };
                    assert_eq!(client.ask(&request).status, status, "request {number}");
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    (booms.into_inner(), normals.into_inner())
}

#[test]
fn a_trap_in_the_response_phase_replaces_the_response() {
    let check = |on_failure: &str, status: u16, body: &str| {
        let origin = Origin::ok();
        let proxy = trapping("reuse", on_failure, &origin);
        for _ in 0..2 {
            let response = proxy.ask(&get("/x").header("X-Boom", "response"));
            assert_eq!(response.status, status, "{on_failure}");
            assert!(response.text().contains(body), "{on_failure}: {}", response.text());
            assert!(!response.head.has("x-seen"), "{on_failure}");
        }
        let fine = proxy.get("/x").expect_status(200);
        assert_eq!(fine.field("x-seen").as_deref(), Some("1"));
    };
    check("closed", 503, "503");
    check("open", 200, "ok");
}
