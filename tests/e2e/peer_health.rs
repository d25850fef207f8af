//! What becomes of peers that fail and come back: for how long they are left out, how many may be, how they start again,
//! and how many requests are tried again meanwhile.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use edgewright_tests::origin::OK;
use edgewright_tests::{Connection, DEADLINE, Gate, Origin, Proxy, Setup, get, wait_for};
use serde_json::Value;

fn start(origins: &[&Origin], lines: &str) -> Proxy {
    let peers: Vec<String> = origins.iter().map(|origin| format!("\"{}\"", origin.address())).collect();
    Setup::new()
        .access_log("sample = \"0%\"")
        .config(&format!("[upstreams.main]\npeers = [{}]\n{lines}", peers.join(", ")))
        .route("default", "", "main")
        .start()
}

/// What `/status` says of a peer of the only upstream.
fn peer(proxy: &Proxy, of: &Origin) -> Value {
    let status = proxy.status();
    let peers = status["upstreams"][0]["peers"].as_array().unwrap();
    let address = of.address().to_string();
    peers.iter().find(|peer| peer["address"] == address.as_str()).unwrap().clone()
}

/// An origin that answers everything with the status that the number is.
fn told() -> (Origin, Arc<AtomicUsize>) {
    let status = Arc::new(AtomicUsize::new(200));
    let told = Arc::clone(&status);
    let answer = move |_: &_| {
        format!("HTTP/1.1 {} X\r\nContent-Length: 0\r\n\r\n", told.load(Ordering::SeqCst)).into_bytes()
    };
    (Origin::answer(answer), status)
}

/// Requests at `/x`, not checks.
fn served(origin: &Origin) -> usize {
    origin.requests().iter().filter(|request| request.target() == "/x").count()
}

#[test]
fn a_peer_that_fails_on_is_left_out_for_twice_as_long_each_time() {
    let ((bad, status), good) = (told(), Origin::ok());
    status.store(503, Ordering::SeqCst);
    let proxy =
        start(&[&bad, &good], "ejection = { server-errors = 1, time = \"100ms\", max-time = \"10m\" }");
    wait_for(DEADLINE, "it to be left out for long", || {
        let _ = proxy.get("/x");
        peer(&proxy, &bad)["ejected-ms"].as_u64().is_some_and(|left| left > 1000)
    });
    // 100, 200, 400, 800 ms and so on: one request tries it each time, whose failure is enough.
    let ejections = peer(&proxy, &bad)["ejections"].as_u64().unwrap();
    assert!((5..=8).contains(&ejections), "{ejections}");
    assert_eq!(bad.requests().len() as u64, ejections);
    status.store(200, Ordering::SeqCst);
    wait_for(DEADLINE, "it to be back", || {
        let _ = proxy.get("/x");
        peer(&proxy, &bad)["healthy"] == true
    });
    // An answer ends the row: the next time is as short as the first.
    status.store(503, Ordering::SeqCst);
    wait_for(DEADLINE, "it to fail again", || {
        let _ = proxy.get("/x");
        peer(&proxy, &bad)["ejections"].as_u64().unwrap() > ejections
    });
    assert!(peer(&proxy, &bad)["ejected-ms"].as_u64().is_none_or(|left| left <= 100));
}

#[test]
fn with_fewer_healthy_peers_than_the_threshold_all_are_used() {
    let origins = [(); 4].map(|()| told());
    for (_, status) in origins.iter().skip(1) {
        status.store(500, Ordering::SeqCst);
    }
    let peers: Vec<&Origin> = origins.iter().map(|(origin, _)| origin).collect();
    let check = |lines: &str, expected: [usize; 4]| {
        let proxy = start(&peers, &format!("health = {{ http = \"/healthz\", interval = \"1h\" }}\n{lines}"));
        wait_for(DEADLINE, "all to be checked", || proxy.status()["upstreams"][0]["healthy"] == 1);
        let before: Vec<usize> = peers.iter().map(|origin| served(origin)).collect();
        for _ in 0..20 {
            let _ = proxy.get("/x");
        }
        let seen: Vec<usize> = peers.iter().zip(&before).map(|(it, before)| served(it) - before).collect();
        assert_eq!(seen, expected, "{lines}");
    };
    check("", [20, 0, 0, 0]);
    check("panic-threshold = \"25%\"", [20, 0, 0, 0]);
    check("panic-threshold = \"26%\"", [5, 5, 5, 5]);
}

#[test]
fn a_peer_that_is_back_gets_a_part_of_its_share_at_first() {
    let ((back, status), other) = (told(), Origin::ok());
    let check = |lines: &str| {
        status.store(503, Ordering::SeqCst);
        let proxy = start(
            &[&back, &other],
            &format!("health = {{ http = \"/healthz\", interval = \"100ms\" }}\n{lines}"),
        );
        wait_for(DEADLINE, "it to be left out", || peer(&proxy, &back)["healthy"] == false);
        status.store(200, Ordering::SeqCst);
        wait_for(DEADLINE, "it to be back", || peer(&proxy, &back)["healthy"] == true);
        let before = served(&back);
        let mut client = proxy.connect();
        for _ in 0..400 {
            assert_eq!(client.ask(&get("/x")).status, 200);
        }
        served(&back) - before
    };
    assert_eq!(check(""), 200);
    // A tenth of its 200, more or less; as time passes, more.
    let slowly = check("slow-start = \"1h\"");
    assert!((1..80).contains(&slowly), "{slowly} of 400");
}

#[test]
fn no_more_requests_are_tried_again_at_once_than_the_budget_has() {
    let gate = Gate::default();
    let bad = Origin::script(|_, _| Err(ErrorKind::ConnectionAborted.into()));
    let pass = gate.clone();
    let slow = Origin::script(move |_, wire| {
        pass.pass();
        wire.send(OK.as_bytes())
    });
    let proxy = start(&[&bad, &slow], "retries = { budget = \"20%\" }");
    // Half of them begin at the bad one; those that are tried again stay at the slow one.
    let mut clients: Vec<Connection> = (0..20).map(|_| proxy.connect()).collect();
    for client in &mut clients {
        client.send(get("/x").bytes());
    }
    wait_for(DEADLINE, "all to be somewhere", || {
        let metrics = proxy.metrics();
        let of = |name: &str| metrics.sum(name, &[("upstream", "main")]) as usize;
        slow.requests().len() + of("edgewright_upstream_retries_refused_total") == 20
    });
    gate.open();
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.response_to("GET").status).collect();
    let failed = statuses.iter().filter(|status| **status == 502).count();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 20 - failed, "{statuses:?}");
    // Ten began at the bad one, and three or four of twenty may be tried again.
    assert!((6..=7).contains(&failed), "{statuses:?}");
    let metrics = proxy.metrics_at_rest();
    let of = |name: &str| metrics.sum(name, &[("upstream", "main")]) as usize;
    assert_eq!(of("edgewright_upstream_retries_total"), 10 - failed);
}
