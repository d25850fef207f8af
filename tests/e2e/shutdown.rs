//! The end: what is in flight finishes, nothing new is taken, and it doesn't take long.

use std::time::Duration;

use edgewright_tests::{Connection, DEADLINE, Gate, Origin, Proxy, Setup, ask, get, wait_for};
use rustix::process::Signal;

fn gated(grace: &str) -> (Proxy, Origin, Gate) {
    let gate = Gate::default();
    let held = gate.clone();
    let origin = Origin::script(move |request, wire| {
        if request.target() == "/slow" {
            held.pass();
        }
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
    });
    let proxy = Setup::new()
        .server(&format!("grace = \"{grace}\""))
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    (proxy, origin, gate)
}

#[test]
fn an_idle_proxy_ends_at_once() {
    let (proxy, _origin, _gate) = gated("60s");
    let mut idle = proxy.connect();
    assert_eq!(idle.ask(&get("/x")).status, 200);
    proxy.signal(Signal::TERM);
    assert!(idle.closes_within(DEADLINE), "an idle connection is closed");
    // Long before the end of the grace.
    let _ = proxy.end(DEADLINE).expect_code(0);
}

#[test]
fn a_request_in_flight_is_finished_and_no_new_one_is_taken() {
    let (proxy, origin, gate) = gated("60s");
    let address = proxy.address();
    let mut client = proxy.connect();
    client.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    proxy.signal(Signal::TERM);
    wait_for(DEADLINE, "new connections to be refused", || Connection::try_open(address).is_err());
    gate.open();
    let response = client.response_to("GET");
    assert_eq!((response.status, response.text().as_str()), (200, "done"));
    assert_eq!(
        response.field("connection").map(|value| value.to_ascii_lowercase()).as_deref(),
        Some("close")
    );
    assert!(client.closes_within(DEADLINE));
    let finished = proxy.end(DEADLINE).expect_code(0);
    assert_eq!(
        finished.stdout.lines().filter(|line| line.contains("\"/slow\"")).count(),
        1,
        "its line is written"
    );
}

#[test]
fn a_request_that_takes_too_long_is_cut_at_the_end_of_the_grace() {
    let (proxy, origin, _gate) = gated("1s");
    let mut client = proxy.connect();
    client.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    let finished = proxy.terminate(DEADLINE).expect_code(0);
    assert!(finished.took >= Duration::from_millis(900), "{:?}", finished.took);
    assert!(client.try_response_to("GET").is_err(), "there was no response to send");
    assert!(finished.stderr.contains("requests were cut"), "{}", finished.stderr);
    let lines: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let line: serde_json::Value = serde_json::from_str(lines[0]).expect("JSON");
    assert_eq!((&line["status"], &line["error"]), (&0.into(), &"cut".into()), "{line}");
    assert_eq!((&line["route"], &line["upstream"]), (&"default".into(), &"main".into()), "{line}");
    assert_eq!(line["method"], "GET", "{line}");
}

#[test]
fn a_response_that_is_cut_is_logged_with_what_went_out() {
    let gate = Gate::default();
    let held = gate.clone();
    let origin = Origin::script(move |_, wire| {
        wire.send(b"HTTP/1.1 203 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")?;
        held.pass();
        Ok(())
    });
    let proxy =
        Setup::new().server("grace = \"1s\"").upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    client.send(ask("PUT", "/x").body("hi").bytes());
    client.wait_for_text("hello");
    let finished = proxy.terminate(DEADLINE).expect_code(0);
    gate.open();
    let line = finished.stdout.lines().find(|line| line.starts_with('{')).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&line["status"], &line["error"]), (&203.into(), &"cut".into()), "{line}");
    assert_eq!((&line["method"], &line["request-bytes"]), (&"PUT".into(), &2.into()), "{line}");
    assert_eq!(line["response-bytes"], 5, "{line}");
}

#[test]
fn f16_who_has_connected_by_the_signal_is_served() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("drain-delay = \"0s\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    // While it stands still, connections are made by the kernel alone.
    proxy.signal(Signal::STOP);
    let mut clients: Vec<Connection> = (0..50).map(|_| proxy.connect()).collect();
    for client in clients.iter_mut().take(25) {
        client.send(get("/x").bytes());
    }
    proxy.signal(Signal::TERM);
    for client in clients.iter_mut().skip(25) {
        client.send(get("/x").bytes());
    }
    proxy.signal(Signal::CONT);
    let served = clients.iter_mut().filter_map(|client| client.try_response_to("GET").ok());
    assert_eq!(served.filter(|answer| answer.status == 200).count(), 50);
    let _ = proxy.end(DEADLINE).expect_code(0);
}

#[test]
fn an_interrupt_ends_it_too() {
    let (proxy, _origin, _gate) = gated("60s");
    proxy.signal(Signal::INT);
    let _ = proxy.end(DEADLINE).expect_code(0);
}

#[test]
fn an_operator_sees_that_it_drains() {
    let (proxy, origin, gate) = gated("60s");
    let mut client = proxy.connect();
    client.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    assert_eq!(proxy.admin("/readyz").status, 200);
    proxy.signal(Signal::TERM);
    wait_for(DEADLINE, "readiness to say that it drains", || {
        let readiness = proxy.admin("/readyz");
        readiness.status == 503 && readiness.text().contains("draining")
    });
    assert_eq!(proxy.admin("/healthz").status, 200);
    assert!(proxy.metrics().has("edgewright_access_log_lines_total", &[]));
    gate.open();
    assert_eq!(client.response_to("GET").text(), "done");
    let _ = proxy.end(DEADLINE).expect_code(0);
}

/// Each client asks again as soon as it has its answer, until it is told that the connection ends.
#[test]
fn g17_clients_that_keep_their_connections_lose_no_request() {
    let origin = Origin::ok();
    // Long enough for each of fifty to come by once on a busy machine.
    let proxy = Setup::new()
        .server("drain-delay = \"4s\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let address = proxy.address();
    let busy = std::sync::Barrier::new(51);
    let lost = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..50)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Connection::open(address);
                    assert_eq!(client.ask(&get("/x")).status, 200);
                    busy.wait();
                    loop {
                        match client.try_ask(&get("/x")) {
                            Ok(answer) if answer.field("connection").is_some_and(|it| it == "close") => {
                                return false;
                            }
                            Ok(_) => std::thread::sleep(Duration::from_millis(5)),
                            Err(_) => return true,
                        }
                    }
                })
            })
            .collect();
        busy.wait();
        proxy.signal(Signal::TERM);
        clients.into_iter().map(|client| client.join().expect("a client")).filter(|lost| *lost).count()
    });
    assert_eq!(lost, 0);
    let _ = proxy.end(DEADLINE).expect_code(0);
}

#[test]
fn f16_a_second_signal_ends_it_at_once() {
    let (proxy, origin, _gate) = gated("60s");
    let mut client = proxy.connect();
    client.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    proxy.signal(Signal::TERM);
    proxy.wait_for_log("shutting down");
    wait_for(DEADLINE, "new connections to be refused", || Connection::try_open(proxy.address()).is_err());
    proxy.signal(Signal::TERM);
    let _ = proxy.end(DEADLINE).expect_code(0);
}
