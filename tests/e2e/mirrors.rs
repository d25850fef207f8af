//! Copies of requests: what is copied, and that nobody waits for it.

use std::time::Instant;

use edgewright_tests::origin::nobody;
use edgewright_tests::{DEADLINE, Gate, Origin, Proxy, Setup, ask, get, wait_for};

fn with(mirror: &str, origin: &Origin, shadow: std::net::SocketAddr) -> Proxy {
    Setup::new()
        .upstream("main", origin)
        .peers("shadow", &[shadow])
        .route(
            "all",
            &format!("path = {{ strip-prefix = \"/api\" }}\nmirror = {{ upstream = \"shadow\"{mirror} }}"),
            "main",
        )
        .start()
}

fn wait_for_outcome(proxy: &Proxy, outcome: &str, count: usize) {
    wait_for(DEADLINE, &format!("{count} copies that are {outcome}"), || {
        let labels = [("route", "all"), ("outcome", outcome)];
        proxy.metrics().sum("edgewright_mirrored_requests_total", &labels) as usize == count
    });
}

#[test]
fn a_copy_is_what_the_upstream_was_sent() {
    let (origin, shadow) = (Origin::body("main"), Origin::body("shadow"));
    let proxy = with("", &origin, shadow.address());
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/api/x?a=1").header("X-A", "1")).text(), "main");
    assert_eq!(client.ask(&ask("POST", "/api/y").body("hello")).text(), "main");
    client.send("PUT /api/z HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_eq!(client.response_to("PUT").text(), "main");
    assert_eq!(client.ask(&ask("HEAD", "/api/x")).status, 200);
    shadow.wait_for_requests(4);
    let copies = shadow.requests();
    let find = |method: &str| {
        let of = |requests: Vec<edgewright_tests::Received>| {
            requests.into_iter().find(|request| request.head.method() == method).expect("there")
        };
        (of(origin.requests()), of(copies.clone()))
    };
    for method in ["GET", "POST", "PUT", "HEAD"] {
        let (sent, copy) = find(method);
        assert_eq!(copy.target(), sent.target(), "{method}");
        assert_eq!(copy.body, sent.body, "{method}");
        for name in ["host", "x-a", "x-forwarded-for", "x-request-id"] {
            assert_eq!(copy.field(name), sent.field(name), "{method}: {name}");
        }
    }
    wait_for_outcome(&proxy, "answered", 4);
}

#[test]
fn a_mirror_that_never_answers_costs_the_request_nothing() {
    let origin = Origin::body("main");
    let gate = Gate::default();
    let held = gate.clone();
    let shadow = Origin::script(move |_, _| {
        held.pass();
        Err(std::io::ErrorKind::ConnectionAborted.into())
    });
    let proxy = with(", timeout = \"200ms\", concurrency = 3", &origin, shadow.address());
    let mut client = proxy.connect();
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(client.ask(&get("/api/x")).text(), "main");
    }
    // Twenty that wait for a mirror would need longer than the kit has patience.
    assert!(began.elapsed() < DEADLINE);
    wait_for(DEADLINE, "every copy to be over", || {
        proxy.metrics().sum("edgewright_mirrored_requests_total", &[("route", "all")]) as usize == 20
    });
    let metrics = proxy.metrics();
    let of = |outcome| metrics.sum("edgewright_mirrored_requests_total", &[("outcome", outcome)]) as usize;
    assert!(of("timed-out") >= 3, "{metrics:?}");
    assert!(of("overload") >= 1, "{metrics:?}");
    assert_eq!(of("timed-out") + of("overload"), 20, "{metrics:?}");
    gate.open();
}

#[test]
fn a_mirror_that_is_not_there_costs_the_request_nothing() {
    let origin = Origin::body("main");
    let proxy = with("", &origin, nobody());
    let mut client = proxy.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(&get("/api/x")).text(), "main");
    }
    wait_for_outcome(&proxy, "failed", 5);
    assert_eq!(proxy.access_log(5)[4]["upstream"], "main");
}

#[test]
fn large_bodies_and_unlucky_requests_are_not_copied() {
    let (origin, shadow) = (Origin::body("main"), Origin::ok());
    let proxy = with(", max-body = \"1KiB\"", &origin, shadow.address());
    assert_eq!(proxy.ask(&ask("POST", "/api/a").body("x".repeat(1024))).text(), "main");
    assert_eq!(proxy.ask(&ask("POST", "/api/b").body("x".repeat(1025))).text(), "main");
    assert_eq!(origin.last().body.len(), 1025);
    wait_for_outcome(&proxy, "answered", 1);
    wait_for_outcome(&proxy, "too-large", 1);
    assert_eq!(shadow.requests().len(), 1);

    let none = with(", share = \"0%\"", &origin, shadow.address());
    assert_eq!(none.get("/api/x").text(), "main");
    assert_eq!(none.metrics().sum("edgewright_mirrored_requests_total", &[]) as usize, 0);
}
