//! Active checks: peers that are left out before a request meets them, and come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use edgewright_tests::modern_origin::{ModernOrigin, Protocols};
use edgewright_tests::origin::{OK, nobody};
use edgewright_tests::{DEADLINE, Origin, Proxy, Setup, wait_for};

/// An origin whose `/healthz` has the status that the number is, and which answers 200 to everything else.
fn origin() -> (Origin, Arc<AtomicUsize>) {
    let status = Arc::new(AtomicUsize::new(200));
    let told = Arc::clone(&status);
    let origin = Origin::answer(move |request| {
        if request.target() != "/healthz" {
            return OK.as_bytes().to_vec();
        }
        format!("HTTP/1.1 {} X\r\nContent-Length: 0\r\n\r\n", told.load(Ordering::SeqCst)).into_bytes()
    });
    (origin, status)
}

fn start(peers: &[String], lines: &str) -> Proxy {
    let peers: Vec<String> = peers.iter().map(|peer| format!("\"{peer}\"")).collect();
    Setup::new()
        .config(&format!("[upstreams.main]\npeers = [{}]\n{lines}", peers.join(", ")))
        .route("default", "", "main")
        .start()
}

/// Waits until so many peers of the only upstream are healthy.
fn wait_for_healthy(proxy: &Proxy, count: u64) {
    wait_for(DEADLINE, &format!("{count} healthy peers"), || {
        proxy.status()["upstreams"][0]["healthy"].as_u64() == Some(count)
    });
}

fn served(origin: &Origin) -> usize {
    origin.requests().iter().filter(|request| request.target() == "/x").count()
}

#[test]
fn a_peer_whose_check_fails_gets_no_requests_until_it_is_well() {
    let ((first, status), (second, _)) = (origin(), origin());
    let proxy = start(
        &[first.address().to_string(), second.address().to_string()],
        "health = { http = \"/healthz\", host = \"app.test\", interval = \"100ms\", unhealthy-after = 2, healthy-after = 2 }",
    );
    status.store(503, Ordering::SeqCst);
    wait_for_healthy(&proxy, 1);
    let peer = &proxy.status()["upstreams"][0]["peers"][0];
    assert_eq!((peer["healthy"].as_bool(), peer["reason"].as_str()), (Some(false), Some("check-failed")));
    let before = served(&first);
    for _ in 0..10 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!((served(&first), served(&second)), (before, 10));
    proxy.wait_for_log("peer is unhealthy");
    status.store(204, Ordering::SeqCst);
    wait_for_healthy(&proxy, 2);
    for _ in 0..10 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(served(&first), before + 5);
    let check = first.requests().into_iter().find(|request| request.target() == "/healthz").unwrap();
    assert_eq!(check.field("host").as_deref(), Some("app.test"));
    // Checks are no requests: nothing of them is in the log or counted.
    assert_eq!(proxy.access_log(20).len(), 20);
}

#[test]
fn with_no_peer_healthy_all_are_used() {
    let (only, status) = origin();
    status.store(500, Ordering::SeqCst);
    let proxy =
        start(&[only.address().to_string()], "health = { http = \"/healthz\", interval = \"100ms\" }");
    wait_for_healthy(&proxy, 0);
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn a_port_is_checked_by_connecting() {
    let live = Origin::ok();
    let peers = [live.address().to_string(), nobody().to_string()];
    let proxy = start(&peers, "health = { tcp = true, interval = \"100ms\" }\nretries = { on = [] }");
    wait_for_healthy(&proxy, 1);
    for _ in 0..10 {
        assert_eq!(proxy.get("/x").status, 200, "no request meets the dead one");
    }
    assert_eq!(proxy.access_log(10).iter().filter(|line| line["attempts"] == 1).count(), 10);
}

#[test]
fn the_health_service_of_grpc_is_asked() {
    let server = |body: &'static [u8]| {
        ModernOrigin::start("127.0.0.1:0", &Protocols { alpn: vec!["h2"], body, ..Protocols::default() })
    };
    let (serving, not_serving) = (server(b"\0\0\0\0\x02\x08\x01"), server(b"\0\0\0\0\x02\x08\x02"));
    let peers = [serving.address().to_string(), not_serving.address().to_string()];
    let proxy =
        start(&peers, "protocol = \"h2c\"\nhealth = { grpc = \"shop.Orders\", interval = \"100ms\" }");
    wait_for_healthy(&proxy, 1);
    let check = &serving.seen()[0];
    assert_eq!((check.method.as_str(), check.path.as_str()), ("POST", "/grpc.health.v1.Health/Check"));
    assert_eq!(proxy.get("/x").status, 200);
    assert!(not_serving.seen().iter().all(|request| request.path != "/x"));
}
