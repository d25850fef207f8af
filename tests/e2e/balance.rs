//! Which peer a request goes to: balance, weights, keys, and peers that are left out; and what operators see of it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;

use edgewright_tests::origin::{OK, nobody};
use edgewright_tests::{Gate, Origin, Proxy, Setup, ask, get, guest, wait_for};
use serde_json::Value;

/// An upstream `main` with these peers, and these lines.
fn upstream(peers: &[&Origin], lines: &str) -> Setup {
    let peers: Vec<String> = peers.iter().map(|origin| format!("\"{}\"", origin.address())).collect();
    Setup::new().config(&format!("[upstreams.main]\npeers = [{}]\n{lines}", peers.join(", ")))
}

/// What `/status` says of the peers of `main`, by address.
fn peers(proxy: &Proxy) -> BTreeMap<String, Value> {
    let status = proxy.status();
    let upstreams = status["upstreams"].as_array().unwrap();
    let main = upstreams.iter().find(|upstream| upstream["name"] == "main").unwrap();
    let peers = main["peers"].as_array().unwrap();
    peers.iter().map(|peer| (peer["address"].as_str().unwrap().to_owned(), peer.clone())).collect()
}

/// An origin that answers this status to everything.
fn status(status: u16) -> Origin {
    Origin::reply(format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nno"))
}

#[test]
fn weights_are_shares() {
    let (heavy, light) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .config(&format!(
            "[upstreams.main]\npeers = [{{ address = \"{}\", weight = 3 }}, \"{}\"]",
            heavy.address(),
            light.address()
        ))
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    for _ in 0..40 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    assert_eq!((heavy.requests().len(), light.requests().len()), (30, 10));
}

#[test]
fn requests_with_one_key_go_to_one_peer() {
    let origins = [Origin::ok(), Origin::ok(), Origin::ok()];
    let check = |balance: &str, name: &str, value: &dyn Fn(usize) -> String| {
        let proxy = upstream(&origins.each_ref(), &format!("balance = {{ hash = {balance} }}"))
            .route("default", "", "main")
            .start();
        let mut owners = Vec::new();
        for key in 0..10 {
            let before: Vec<usize> = origins.iter().map(|origin| origin.requests().len()).collect();
            for _ in 0..5 {
                assert_eq!(proxy.ask(&get("/x").header(name, value(key))).status, 200);
            }
            let grew = |at: &usize| origins[*at].requests().len() - before[*at];
            let owner =
                (0..3).find(|at| grew(at) == 5).unwrap_or_else(|| panic!("{balance}: a key of two peers"));
            owners.push(owner);
        }
        assert!(owners.iter().any(|owner| *owner != owners[0]), "{balance}: one peer owns every key");
    };
    check(r#"{ header = "x-tenant" }"#, "X-Tenant", &|key| format!("tenant-{key}"));
    check(r#"{ cookie = "sid" }"#, "Cookie", &|key| format!("a=1; sid=s{key}"));
}

#[test]
fn a_client_stays_at_its_peer() {
    let origins = [Origin::ok(), Origin::ok(), Origin::ok()];
    let proxy = upstream(&origins.each_ref(), "balance = { hash = \"client-address\" }")
        .route("default", "", "main")
        .start();
    for _ in 0..10 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    let counts: Vec<usize> = origins.iter().map(|origin| origin.requests().len()).collect();
    assert!(counts.contains(&10), "{counts:?}");
}

#[test]
fn a_plugin_sets_the_key() {
    let origins = [Origin::ok(), Origin::ok(), Origin::ok()];
    let proxy = upstream(&origins.each_ref(), "balance = { hash = \"plugin\" }")
        .plugin("upstream", &guest("upstream"), "isolation = \"reuse\"")
        .route_all(r#"["upstream"]"#, "main")
        .start();
    for key in ["a", "b", "c", "d"] {
        let before: usize = origins.iter().map(Origin::connections).sum();
        for _ in 0..4 {
            let request = get("/x").header("X-Hash-Key", key);
            assert_eq!(proxy.ask(&request).status, 200);
        }
        let peers = origins.iter().filter(|origin| {
            let of_key = |request: &edgewright_tests::Received| {
                request.head.field("x-hash-key").as_deref() == Some(key)
            };
            origin.requests().iter().any(of_key)
        });
        assert_eq!(peers.count(), 1, "{key} after {before} connections");
    }
    let result = |bytes: usize| {
        assert_eq!(proxy.ask(&get("/x").header("X-Hash-Key-Bytes", bytes.to_string())).status, 200);
        origins.iter().flat_map(Origin::requests).find_map(|request| {
            let asked = request.head.field("x-hash-key-bytes")?;
            (asked == bytes.to_string()).then(|| request.head.field("x-hash-key-result"))?
        })
    };
    assert_eq!(result(8192).as_deref(), Some("Ok(())"));
    assert_eq!(result(8193).as_deref(), Some("Err(TooLarge)"));
}

#[test]
fn the_less_busy_peer_gets_the_requests() {
    let gate = Gate::default();
    let held = gate.clone();
    let busy = Origin::script(move |request, wire| {
        if request.target() == "/slow" {
            held.pass();
        }
        wire.send(OK.as_bytes())
    });
    let free = Origin::ok();
    let proxy =
        upstream(&[&busy, &free], "balance = \"least-requests\"").route("default", "", "main").start();
    // One stays at the busy peer; where the other one is asked, it answers at once.
    let mut stuck = Vec::new();
    wait_for(edgewright_tests::DEADLINE, "a request at the busy peer", || {
        let mut client = proxy.connect();
        client.send(get("/slow").bytes());
        stuck.push(client);
        let count = stuck.len();
        wait_for(edgewright_tests::DEADLINE, "the request to arrive", || {
            busy.requests().len() + free.requests().len() == count
        });
        !busy.requests().is_empty()
    });
    // A client has its answer before its request has ended: two busy peers would be a tie.
    let done = || {
        wait_for(edgewright_tests::DEADLINE, "the others to be done", || {
            peers(&proxy)[&free.address().to_string()]["in-flight"] == 0
        });
    };
    done();
    assert_eq!(peers(&proxy)[&busy.address().to_string()]["in-flight"], 1);
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
        done();
    }
    assert_eq!(busy.requests().len(), 1);
    // A client that goes away is no longer in flight, either.
    drop(stuck);
    wait_for(edgewright_tests::DEADLINE, "nothing to be in flight", || {
        peers(&proxy)[&busy.address().to_string()]["in-flight"] == 0
    });
    gate.open();
}

#[test]
fn a_peer_that_fails_again_and_again_is_left_out() {
    let (bad, good) = (status(503), Origin::ok());
    let proxy =
        upstream(&[&bad, &good], "ejection = { server-errors = 2, time = \"1h\", max-time = \"1h\" }")
            .route("default", "", "main")
            .start();
    let statuses: Vec<u16> = (0..20).map(|_| proxy.get("/x").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 2, "{statuses:?}");
    assert_eq!(bad.requests().len(), 2);
    let metrics = proxy.metrics_at_rest();
    let peers = peers(&proxy);
    let (bad, good) = (&peers[&bad.address().to_string()], &peers[&good.address().to_string()]);
    assert_eq!((bad["healthy"].as_bool(), good["healthy"].as_bool()), (Some(false), Some(true)));
    assert_eq!((bad["reason"].as_str(), bad["failures"].as_u64()), (Some("server-errors"), Some(2)));
    assert!(bad["ejected-ms"].as_u64().unwrap() > 3_000_000, "{bad}");
    assert_eq!((good["requests"].as_u64(), good["failures"].as_u64()), (Some(18), Some(0)));
    let address = bad["address"].as_str().unwrap();
    let of =
        |name: &str| metrics.sum(&format!("edgewright_upstream_peer_{name}"), &[("peer", address)]) as u64;
    assert_eq!((of("requests_total"), of("failures_total"), of("ejections_total")), (2, 2, 1));
    assert_eq!((of("healthy"), of("in_flight")), (0, 0));
}

#[test]
fn errors_leave_out_no_more_peers_than_they_may() {
    let origins = [status(500), status(500), status(500), status(500)];
    let proxy = upstream(
        &origins.each_ref(),
        "ejection = { server-errors = 1, time = \"1h\", max-time = \"1h\", max-share = \"50%\" }",
    )
    .route("default", "", "main")
    .start();
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 500);
    }
    let out = peers(&proxy).values().filter(|peer| peer["healthy"] == false).count();
    assert_eq!(out, 2);
}

#[test]
fn case_15_a_dead_peer_is_tried_a_few_times_in_all() {
    let origin = Origin::ok();
    let dead = nobody();
    let proxy = Setup::new().peers("main", &[dead, origin.address()]).route("default", "", "main").start();
    for _ in 0..100 {
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(proxy.ask(&ask("POST", "/x").body(vec![b'x'; 1024])).status, 200);
    }
    let attempts = proxy
        .metrics_at_rest()
        .sum("edgewright_upstream_peer_failures_total", &[("peer", &dead.to_string())]);
    assert!((1.0..=10.0).contains(&attempts), "{attempts} connections to a dead peer");
}

#[test]
fn a_peer_may_be_a_unix_socket() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let _ =
                (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nunix");
        }
    };
    std::thread::Builder::new().name("unix origin".to_owned()).spawn(serve).unwrap();
    let proxy = Setup::new()
        .config(&format!("[upstreams.main]\npeers = [\"unix:{}\"]", path.display()))
        .route("default", "", "main")
        .start();
    for _ in 0..3 {
        assert_eq!(proxy.get("/x").expect_status(200).text(), "unix");
    }
    let peer = format!("unix:{}", path.display());
    assert_eq!(proxy.access_log(3)[0]["peer"], peer.as_str());
    assert_eq!(peers(&proxy)[&peer]["requests"], 3);
}
