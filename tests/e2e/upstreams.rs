//! Upstreams and their peers: balance, dead and silent ones, and what the client is told.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use edgewright_tests::origin::nobody;
use edgewright_tests::{Origin, Proxy, Response, Setup, ask, get};

/// The page says what happened and which request it was, and nothing of the inside.
fn check_page(proxy: &Proxy, response: &Response, peer: &str) {
    let id = response.field("x-request-id").expect("a request id");
    let body = response.text();
    assert!(body.contains(&response.status.to_string()) && body.contains(&id), "{body}");
    let port = peer.rsplit(':').next().unwrap();
    for inside in [port, "127.0.0", "upstream", "Pingora", "pingora", "refused", "errno"] {
        assert!(!body.contains(inside), "`{inside}` in the body: {body}");
        assert!(
            !String::from_utf8_lossy(&response.head.raw).contains(inside),
            "`{inside}` in {:?}",
            response.head
        );
    }
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!(line["request-id"], id.as_str());
    assert_eq!(line["status"], response.status);
    assert!(line["error"].is_string(), "{line}");
}

#[test]
fn requests_go_round_the_peers() {
    let origins = [Origin::ok(), Origin::ok(), Origin::ok()];
    let peers: Vec<_> = origins.iter().map(Origin::address).collect();
    let proxy = Setup::new().peers("main", &peers).route("default", "", "main").start();
    let mut client = proxy.connect();
    for _ in 0..30 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    let counts: Vec<_> = origins.iter().map(|origin| origin.requests().len()).collect();
    assert_eq!(counts, [10, 10, 10]);
    // Connections to peers are kept.
    let connections: usize = origins.iter().map(Origin::connections).sum();
    assert!(connections <= 6, "{connections} connections for 30 requests");
}

#[test]
fn a_dead_peer_costs_nobody_an_error() {
    let origin = Origin::ok();
    let proxy =
        Setup::new().peers("main", &[nobody(), origin.address()]).route("default", "", "main").start();
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
        // Nothing of it was sent yet, so a POST may be tried again too.
        assert_eq!(proxy.ask(&ask("POST", "/x").body("body")).status, 200);
    }
    assert_eq!(origin.requests().len(), 40);
    assert!(origin.requests().iter().filter(|r| r.head.method() == "POST").all(|r| r.body == b"body"));
}

#[test]
fn c57_an_upstream_that_is_down_is_502_or_503_with_a_request_id() {
    let peer = nobody();
    let proxy = Setup::new().peers("main", &[peer]).route("default", "", "main").start();
    let response = proxy.get("/x");
    assert!(matches!(response.status, 502 | 503), "{}", response.status);
    check_page(&proxy, &response, &peer.to_string());
}

#[test]
fn c57_a_name_that_leads_nowhere_is_told_to_the_log_alone() {
    let dns = edgewright_tests::Dns::start(&[]);
    let proxy = Setup::new()
        .config(&format!(
            "[dns]\nservers = [\"{}\"]\n[upstreams.main]\npeers = [\"secret.test:60081\"]",
            dns.address()
        ))
        .route("default", "", "main")
        .start();
    let response = proxy.get("/x").expect_status(503);
    let all = [response.head.raw.as_slice(), &response.body].concat();
    assert!(!String::from_utf8_lossy(&all).contains("secret"), "{:?}", response.head);
    check_page(&proxy, &response, "secret.test:60081");
}

#[test]
fn case_12_an_upstream_that_talks_nonsense_is_502() {
    let check = |reply: &'static str| {
        let origin = Origin::script(move |_, wire| {
            wire.send(reply.as_bytes())?;
            Err(std::io::ErrorKind::ConnectionAborted.into())
        });
        let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
        let response = proxy.ask(&ask("POST", "/x").body("once"));
        assert_eq!(response.status, 502, "{reply:?}");
        assert_eq!(origin.requests().len(), 1, "a request that was sent is not sent again");
        check_page(&proxy, &response, &origin.address().to_string());
    };
    check("");
    check("SSH-2.0-x\r\n\r\n");
}

#[test]
fn case_12_a_silent_upstream_is_504_in_time() {
    // Reads and never answers; the connection stays until the proxy ends it.
    let origin = Origin::script(|_, wire| wire.head().map(|_| ()));
    let proxy = Setup::new()
        .config(&format!(
            "[upstreams.main]\npeers = [\"{}\"]\ntimeouts = {{ read = \"1s\" }}",
            origin.address()
        ))
        .route("default", "", "main")
        .start();
    let start = Instant::now();
    let response = proxy.get("/x").expect_status(504);
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(980) && took < Duration::from_secs(10), "{took:?}");
    check_page(&proxy, &response, &origin.address().to_string());
}

#[test]
fn case_12_a_response_that_stalls_does_not_end_well() {
    let origin = Origin::script(|_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")?;
        wire.head().map(|_| ())
    });
    let proxy = Setup::new()
        .config(&format!(
            "[upstreams.main]\npeers = [\"{}\"]\ntimeouts = {{ read = \"1s\" }}",
            origin.address()
        ))
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    client.send(get("/x").bytes());
    let error = client.try_response_to("GET").expect_err("half a body is no response");
    assert!(
        matches!(error.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset),
        "{error}"
    );
}

#[test]
fn no_route_is_404_and_no_upstream_is_asked() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .upstream("main", &origin)
        .route("only", "match = { host = \"only.test\" }", "main")
        .start();
    let response = proxy.get("/x").expect_status(404);
    assert!(response.head.has("x-request-id"));
    assert_eq!(origin.connections(), 0);
    assert_eq!(proxy.access_log(1)[0]["error"], "no-route");
}

#[test]
fn one_live_peer_behind_many_dead_ones_is_found_by_every_request() {
    let origin = Origin::ok();
    let dead = nobody().port();
    let mut peers: Vec<SocketAddr> =
        (2..=41).map(|last| SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), dead))).collect();
    peers.push(origin.address());
    let proxy = Setup::new().peers("main", &peers).route("default", "", "main").start();
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(proxy.ask(&ask("POST", "/x").body("body")).status, 200);
    }
    assert_eq!(origin.requests().len(), 40);
}
