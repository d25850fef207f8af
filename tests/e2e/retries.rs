//! Requests that are sent once more, and those that are not; and the time that all of it may take.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use edgewright_tests::origin::OK;
use edgewright_tests::{Origin, Proxy, Setup, ask, get};

const NO: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno";

/// A proxy in front of these origins, with these lines for the upstream.
fn start(origins: &[&Origin], lines: &str) -> Proxy {
    let peers: Vec<String> = origins.iter().map(|origin| format!("\"{}\"", origin.address())).collect();
    Setup::new()
        .config(&format!("[upstreams.main]\npeers = [{}]\n{lines}", peers.join(", ")))
        .route("default", "", "main")
        .start()
}

/// Breaks the connection at each request.
fn breaking() -> Origin {
    Origin::script(|_, _| Err(ErrorKind::ConnectionAborted.into()))
}

#[test]
fn a_get_whose_connection_broke_is_sent_to_another_peer() {
    let (bad, good) = (breaking(), Origin::ok());
    let proxy = start(&[&bad, &good], "");
    for _ in 0..4 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!((bad.requests().len(), good.requests().len()), (2, 4));
    assert_eq!(
        proxy.metrics_at_rest().sum("edgewright_upstream_retries_total", &[("upstream", "main")]) as u64,
        2
    );
    assert_eq!(proxy.access_log(4).iter().filter(|line| line["attempts"] == 2).count(), 2);
}

#[test]
fn c18_a_post_that_may_have_run_is_never_sent_again() {
    let bad = breaking();
    let also_bad = breaking();
    let proxy = start(
        &[&bad, &also_bad],
        "retries = { attempts = 5, on = [\"connect\", \"reset\", \"timeout\", \"503\"] }",
    );
    for method in ["POST", "PATCH", "X-ODD"] {
        assert_eq!(proxy.ask(&ask(method, "/x").body("once")).status, 502);
    }
    assert_eq!(bad.requests().len() + also_bad.requests().len(), 3);
    // By what it means, a PUT may be.
    assert_eq!(proxy.ask(&ask("PUT", "/x").body("twice")).status, 502);
    let puts =
        [&bad, &also_bad].map(|origin| origin.requests().iter().filter(|r| r.body == b"twice").count());
    assert_eq!(puts.iter().sum::<usize>(), 5);
}

#[test]
fn a_status_is_tried_again_where_that_is_wanted() {
    let (bad, good) = (Origin::reply(NO), Origin::ok());
    let proxy = start(&[&bad, &good], "retries = { on = [503] }");
    for _ in 0..4 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(proxy.ask(&ask("POST", "/x").body("once")).status, 503, "not a POST");
    let proxy = start(&[&bad, &good], "");
    let statuses: Vec<u16> = (0..2).map(|_| proxy.get("/x").status).collect();
    assert_eq!(statuses, [503, 200], "nobody wanted it");
}

#[test]
fn with_no_attempt_left_the_response_goes_on_as_it_is() {
    let origin = Origin::reply(NO);
    let proxy = start(&[&origin], "retries = { attempts = 3, on = [\"503\"] }");
    let response = proxy.get("/x").expect_status(503);
    assert_eq!(response.text(), "no", "the upstream's own page");
    assert_eq!(origin.requests().len(), 3, "one peer is better than none");
}

#[test]
fn a_body_that_is_too_long_to_keep_is_not_sent_again() {
    let (bad, good) = (Origin::reply(NO), Origin::ok());
    let proxy = start(&[&bad, &good], "retries = { on = [503] }");
    assert_eq!(proxy.ask(&ask("PUT", "/x").body(vec![b'x'; 1000])).status, 200);
    assert_eq!(good.last().body.len(), 1000);
    let statuses: Vec<u16> =
        (0..2).map(|_| proxy.ask(&ask("PUT", "/x").body(vec![b'x'; 300_000])).status).collect();
    assert!(statuses.contains(&503) && statuses.contains(&200), "{statuses:?}");
}

#[test]
fn a_silent_peer_is_tried_again_only_where_that_is_wanted() {
    let silent = || Origin::script(|_, wire| wire.head().map(|_| ()));
    let (bad, good) = (silent(), Origin::ok());
    let proxy = start(&[&bad, &good], "timeouts = { read = \"1s\" }\nretries = { on = [\"timeout\"] }");
    for _ in 0..2 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    let proxy = start(&[&bad], "timeouts = { read = \"200ms\" }");
    let seen = bad.requests().len();
    assert_eq!(proxy.get("/x").status, 504);
    assert_eq!(bad.requests().len(), seen + 1);
}

#[test]
fn the_total_time_out_bounds_all_attempts() {
    let silent = Origin::script(|_, wire| wire.head().map(|_| ()));
    let lines =
        "timeouts = { read = \"10s\", total = \"400ms\" }\nretries = { attempts = 10, on = [\"timeout\"] }";
    let proxy = start(&[&silent], lines);
    let start = Instant::now();
    assert_eq!(proxy.get("/x").status, 504);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[test]
fn the_total_time_out_ends_a_body_that_drips() {
    let drips = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drips);
    let origin = Origin::script(move |_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
        wire.patience(Some(Duration::from_millis(20)));
        loop {
            wire.send(b"x")?;
            count.fetch_add(1, Ordering::SeqCst);
            // Nothing comes: a pause.
            let _ = wire.fill();
        }
    });
    let proxy = start(&[&origin], "timeouts = { total = \"1s\" }");
    let start = Instant::now();
    let mut client = proxy.connect();
    client.send(get("/x").bytes());
    client.try_response_to("GET").expect_err("a body that is cut");
    assert!(start.elapsed() >= Duration::from_millis(950), "{:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(drips.load(Ordering::SeqCst) > 1);
    assert_eq!(proxy.access_log(1)[0]["error"], "upstream-timeout");
}

#[test]
fn f11_a_kept_connection_that_was_closed_costs_a_get_nothing() {
    // Closes each connection some moments after its first response.
    let origin = Origin::script(|_, wire| {
        wire.send(OK.as_bytes())?;
        wire.patience(Some(Duration::from_millis(2)));
        match wire.fill() {
            // The next request came: it is dropped, as by a server that had decided to close.
            Ok(_) => Err(ErrorKind::ConnectionAborted.into()),
            Err(_) => Err(ErrorKind::TimedOut.into()),
        }
    });
    let proxy = start(&[&origin], "");
    let mut client = proxy.connect();
    for _ in 0..300 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    // A POST may fail, but runs once at most.
    let before = origin.requests().len();
    let mut fine = 0;
    for _ in 0..100 {
        fine += usize::from(proxy.ask(&ask("POST", "/x").body("once")).status == 200);
    }
    let ran = origin.requests().len() - before;
    assert!(ran <= 100 && ran >= fine, "{ran} of 100 ran, {fine} were answered");
}

/// Whoever closes what is idle closes now and then just as the next request comes.
#[test]
fn g18_an_upstream_that_closes_early_costs_no_get() {
    let closes = AtomicUsize::new(0);
    let origin = Origin::script(move |_, wire| {
        wire.send(OK.as_bytes())?;
        let millis = closes.fetch_add(1, Ordering::Relaxed) as u64 % 4;
        if millis > 0 {
            wire.patience(Some(Duration::from_millis(millis)));
            if wire.fill().is_ok_and(|count| count > 0) {
                // In time: its head is in the buffer for the next round.
                wire.patience(Some(edgewright_tests::DEADLINE));
                return Ok(());
            }
        }
        Err(ErrorKind::ConnectionAborted.into())
    });
    let proxy = start(&[&origin], "");
    let mut client = proxy.connect();
    for _ in 0..1000 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    assert!(origin.connections() > 100, "{} connections", origin.connections());
}

/// An upstream whose own limit is longer than the proxy's closes no connection that a request is sent on.
#[test]
fn g18_no_post_is_lost_where_the_proxy_closes_first() {
    let origin = Origin::script(|_, wire| {
        wire.send(OK.as_bytes())?;
        wire.patience(Some(Duration::from_secs(1)));
        if wire.fill().is_ok_and(|count| count > 0) {
            wire.patience(Some(edgewright_tests::DEADLINE));
            return Ok(());
        }
        Err(ErrorKind::ConnectionAborted.into())
    });
    let proxy = start(&[&origin], "timeouts = { idle = \"50ms\" }");
    let mut client = proxy.connect();
    for number in 1..=5 {
        assert_eq!(client.ask(&ask("POST", "/x").body("once")).status, 200, "POST {number}");
        // As long as the upstream waits.
        assert!(!client.closes_within(Duration::from_secs(1)));
        client.patience();
    }
    assert_eq!(origin.requests().len(), 5);
}
