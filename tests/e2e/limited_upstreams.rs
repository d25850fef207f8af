//! Upstreams that take no more than they may: who waits, who is refused, and how.

use std::time::Duration;

use edgewright_tests::origin::OK;
use edgewright_tests::{DEADLINE, Gate, Origin, Proxy, Setup, get, wait_for};

fn start(origin: &Origin, limits: &str) -> Proxy {
    let peer = origin.address();
    Setup::new()
        .config(&format!("[upstreams.main]\npeers = [\"{peer}\"]\nlimits = {{ {limits} }}"))
        .route("default", "", "main")
        .start()
}

/// Holds each request until the gate opens.
fn held(gate: &Gate) -> Origin {
    let gate = gate.clone();
    Origin::script(move |_, wire| {
        gate.pass();
        wire.send(OK.as_bytes())
    })
}

#[test]
fn what_has_no_place_is_503_with_retry_after() {
    let check = |limits: &str| {
        let gate = Gate::default();
        let origin = held(&gate);
        let proxy = start(&origin, limits);
        let mut first = proxy.connect();
        first.send(get("/x").bytes());
        origin.wait_for_requests(1);
        let refused = proxy.get("/x").expect_status(503);
        assert_eq!(refused.field("retry-after").as_deref(), Some("1"));
        gate.open();
        assert_eq!(first.response_to("GET").status, 200);
        // A moment later than the last byte of the response.
        let mut refusals = 1;
        wait_for(DEADLINE, "the place to be free again", || {
            let status = proxy.get("/x").status;
            refusals += u64::from(status == 503);
            status == 200
        });
        assert_eq!(origin.requests().len(), 2);
        let lines = proxy.access_log(usize::try_from(refusals).expect("a few") + 2);
        let line = lines.into_iter().find(|line| line["status"] == 503).unwrap();
        assert_eq!(line["error"], "overloaded");
        let refused = proxy.metrics().sum("edgewright_upstream_refused_total", &[("upstream", "main")]);
        assert_eq!(refused as u64, refusals);
    };
    check("max-requests = 1, max-pending = 0");
    check("max-connections = 1, max-pending = 0");
    check("max-connections = 1, max-pending = 5, pending-timeout = \"50ms\"");
}

#[test]
fn a_place_is_free_again_when_its_client_goes_away() {
    let gate = Gate::default();
    let origin = held(&gate);
    let proxy = start(&origin, "max-requests = 1, max-pending = 0");
    let mut gone = proxy.connect();
    gone.send(get("/x").bytes());
    origin.wait_for_requests(1);
    assert_eq!(proxy.get("/x").status, 503);
    drop(gone);
    gate.open();
    wait_for(DEADLINE, "the place to be free", || proxy.get("/x").status == 200);
}

#[test]
fn requests_of_an_earlier_generation_keep_their_places() {
    let gate = Gate::default();
    let origin = held(&gate);
    let proxy = start(&origin, "max-requests = 1, max-pending = 0");
    let mut first = proxy.connect();
    first.send(get("/x").bytes());
    origin.wait_for_requests(1);
    assert_eq!(proxy.get("/x").status, 503);
    proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/x").status, 503, "the one place is taken still");
    let refused = proxy.metrics().sum("edgewright_upstream_refused_total", &[("upstream", "main")]);
    assert_eq!(refused as u64, 2, "counted on");
    gate.open();
    assert_eq!(first.response_to("GET").status, 200);
    wait_for(DEADLINE, "the place to be free again", || proxy.get("/x").status == 200);
}

#[test]
fn f15_more_clients_than_connections_wait_and_none_fails() {
    let origin = Origin::script(|_, wire| {
        wire.patience(Some(Duration::from_millis(2)));
        // Nothing comes meanwhile: a moment of work.
        let _ = wire.fill();
        wire.patience(None);
        wire.send(OK.as_bytes())
    });
    let proxy = start(&origin, "max-connections = 4, pending-timeout = \"20s\"");
    let address = proxy.address();
    std::thread::scope(|scope| {
        for _ in 0..60 {
            scope.spawn(|| {
                let mut client = edgewright_tests::Connection::open(address);
                let statuses: Vec<u16> = (0..5).map(|_| client.ask(&get("/x")).status).collect();
                assert_eq!(statuses, [200; 5]);
            });
        }
    });
    assert_eq!(origin.requests().len(), 300);
    // One that makes room for another is over a moment later at the origin.
    wait_for(DEADLINE, "no more connections than there may be", || {
        origin.connections() - origin.closed() <= 4
    });
    assert!(origin.connections() < 100, "{} connections for 300 requests", origin.connections());
}
