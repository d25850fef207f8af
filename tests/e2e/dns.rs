//! Upstreams by name: names that are missing, appear, move and whose server fails.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use edgewright_tests::dns::Service;
use edgewright_tests::origin::nobody;
use edgewright_tests::{Answer, DEADLINE, Dns, Origin, Setup, get, wait_for};

/// Short times, so that a test sees the next look-up.
fn resolver(dns: &Dns) -> String {
    format!(
        "[dns]\nservers = [\"{}\"]\ntimeout = \"500ms\"\nmin-ttl = \"1s\"\nretry = \"1s\"\nstale-max = \"1h\"",
        dns.address()
    )
}

/// An upstream with one peer by name, at the port of an origin.
fn named(upstream: &str, name: &str, port: u16) -> String {
    format!("[upstreams.{upstream}]\npeers = [\"{name}:{port}\"]")
}

#[test]
fn case_13_a_missing_name_is_an_error_of_its_route_alone() {
    let dns = Dns::start(&[]);
    let (gone, healthy) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config(&named("gone", "gone.test", gone.address().port()))
        .upstream("healthy", &healthy)
        .route("x", "match = { host = \"x.test\" }", "gone")
        .route("y", "match = { host = \"y.test\" }", "healthy")
        .start();
    let warning = proxy.wait_for_log("gone.test");
    assert!(warning.contains("WARN") && warning.contains("gone"), "{warning}");

    let mut times = Vec::new();
    for _ in 0..50 {
        let start = Instant::now();
        let response = proxy.ask(&get("/").host("x.test"));
        assert!(matches!(response.status, 502 | 503), "{}", response.status);
        assert!(!response.body.is_empty() && response.head.has("x-request-id"));
        times.push(start.elapsed());
        assert_eq!(proxy.ask(&get("/").host("y.test")).status, 200);
    }
    // One of them may have met a busy machine; half of them have waited for something else.
    times.sort_unstable();
    assert!(times[25] < Duration::from_millis(200), "{times:?}");
    assert!(!proxy.stderr().contains("panicked"), "{}", proxy.stderr());

    dns.set("gone.test", Answer::addresses(&["127.0.0.1"]));
    wait_for(DEADLINE, "the name to be found", || proxy.ask(&get("/").host("x.test")).status == 200);
    assert_eq!(gone.requests().len(), 1);
}

#[test]
fn a_name_that_moves_is_followed() {
    // Two origins at one port, on two addresses of loopback.
    let first = Origin::ok();
    let moved: SocketAddr = format!("127.0.0.2:{}", first.address().port()).parse().unwrap();
    let second = Origin::ok_at(moved);
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config(&named("main", "svc.test", moved.port()))
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!((first.requests().len(), second.requests().len()), (1, 0));
    dns.set("svc.test", Answer::addresses(&["127.0.0.2"]));
    wait_for(DEADLINE, "the new address to be used", || {
        assert_eq!(proxy.get("/x").status, 200);
        !second.requests().is_empty()
    });
    let before = first.requests().len();
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(first.requests().len(), before);
}

#[test]
fn a_failing_name_server_leaves_the_last_good_answer() {
    let check = |failure: Answer| {
        let origin = Origin::ok();
        let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
        let proxy = Setup::new()
            .config(&resolver(&dns))
            .config(&named("main", "svc.test", origin.address().port()))
            .route("default", "", "main")
            .start();
        assert_eq!(proxy.get("/x").status, 200);
        let asked = dns.asked("svc.test");
        dns.set("svc.test", failure.clone());
        let mut served = 0;
        wait_for(DEADLINE, "look-ups that fail", || {
            assert_eq!(proxy.get("/x").status, 200, "{failure:?}");
            served += 1;
            dns.asked("svc.test") >= asked + 4
        });
        // If each had waited for a look-up, there would be no more of them.
        assert!(served > 20, "{served} requests during 4 look-ups");
    };
    check(Answer::failure());
    check(Answer::silence());
    check(Answer::no_such_name());
    check(Answer::addresses(&["127.0.0.1"]).delay(Duration::from_secs(2)));
}

#[test]
fn case_15_of_several_addresses_the_dead_one_costs_nothing() {
    let bound: SocketAddr = "127.0.0.2:0".parse().unwrap();
    let origin = Origin::ok_at(bound);
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.9", "127.0.0.2", "::1"]))]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config(&named("main", "svc.test", origin.address().port()))
        .route("default", "", "main")
        .start();
    for _ in 0..30 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(origin.requests().len(), 30);
}

#[test]
fn a_service_has_peers_ports_and_weights_of_its_srv_records() {
    let (heavy, light, spare) = (Origin::ok(), Origin::ok(), Origin::ok());
    let record = |priority, weight, origin: &Origin| Service {
        priority,
        weight,
        port: origin.address().port(),
        target: "node.test",
    };
    let dns = Dns::start(&[
        ("node.test", Answer::addresses(&["127.0.0.1"])),
        (
            "_http._tcp.svc.test",
            Answer::services(&[record(1, 30, &heavy), record(1, 10, &light), record(2, 1, &spare)]),
        ),
    ]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config("[upstreams.main]\npeers = [\"srv:_http._tcp.svc.test\"]")
        .route("default", "", "main")
        .start();
    for _ in 0..40 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!((heavy.requests().len(), light.requests().len(), spare.requests().len()), (30, 10, 0));
    dns.set("_http._tcp.svc.test", Answer::services(&[record(2, 1, &spare)]));
    wait_for(DEADLINE, "the new records to be used", || {
        assert_eq!(proxy.get("/x").status, 200);
        !spare.requests().is_empty()
    });
    // While its server fails, the last good answer stays.
    dns.set("node.test", Answer::failure());
    let asked = dns.asked("_http._tcp.svc.test");
    wait_for(DEADLINE, "a look-up that fails", || {
        assert_eq!(proxy.get("/x").status, 200);
        dns.asked("_http._tcp.svc.test") >= asked + 2
    });
}

#[test]
fn the_next_priority_of_a_service_takes_over_while_none_of_the_first_is_healthy() {
    let (spare, dead) = (Origin::ok(), nobody());
    let record = |priority, port| Service { priority, weight: 1, port, target: "node.test" };
    let dns = Dns::start(&[
        ("node.test", Answer::addresses(&["127.0.0.1"])),
        (
            "_http._tcp.svc.test",
            Answer::services(&[record(10, dead.port()), record(20, spare.address().port())]),
        ),
    ]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config("[upstreams.main]\npeers = [\"srv:_http._tcp.svc.test\"]\nejection = { time = \"1s\", max-time = \"1s\" }")
        .route("default", "", "main")
        .start();
    for count in 1..=20 {
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(spare.requests().len(), count);
    }
    // Once the first one is there again, the spare has nothing to do.
    let first = Origin::ok_at(dead);
    wait_for(DEADLINE, "the first one to be used", || {
        assert_eq!(proxy.get("/x").status, 200);
        !first.requests().is_empty()
    });
    let before = spare.requests().len();
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(spare.requests().len(), before);
}

#[test]
fn f02_ten_thousand_requests_without_name_servers_and_none_fails() {
    let origin = Origin::ok();
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
    let proxy = Setup::new()
        .access_log("sample = \"0%\"")
        .config(&resolver(&dns))
        .config(&named("main", "svc.test", origin.address().port()))
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/x")).status, 200);
    let asked = dns.asked("svc.test");
    dns.set("svc.test", Answer::silence());
    let mut sent = 0;
    // Longer than the answer's TTL of a second: it has been asked for in vain by then.
    while sent < 10_000 || dns.asked("svc.test") < asked + 4 {
        assert_eq!(client.ask(&get("/x")).status, 200, "after {sent} requests");
        sent += 1;
        if sent % 5_000 == 0 {
            // Connections have a number of requests, too.
            client = proxy.connect();
        }
    }
}
