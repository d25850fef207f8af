//! Clients that take their time: with a head, a body, what they are sent, or the next request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use edgewright_tests::{Connection, DEADLINE, Origin, Proxy, Setup, ask, get, wait_for};

/// Shorter than any limit that a test does not set.
const SOON: Duration = Duration::from_secs(5);

fn limited(limits: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server(&format!("timeouts = {{ {limits} }}"))
        .upstream("main", origin)
        .route("default", "", "main")
        .start()
}

/// Sends one byte every now and then until the peer says something.
fn drip(client: &mut Connection, bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        client.send([*byte]);
        if client.closes_within(Duration::from_millis(20)) || !client.leftover().is_empty() {
            return;
        }
    }
}

/// However small the steps: the head as a whole has so much time.
#[test]
fn a_head_that_drips_in_is_408() {
    let origin = Origin::ok();
    let proxy = limited(r#"header = "300ms""#, &origin);
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nX: ");
    drip(&mut client, b"x");
    assert_eq!(client.response_to("GET").status, 408);
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!((&line["status"], &line["error"]), (&408.into(), &"request-timeout".into()), "{line}");
    assert_eq!((&line["method"], &line["target"]), (&"GET".into(), &"/x".into()), "{line}");
    assert_eq!(origin.connections(), 0);
}

#[test]
fn a_connection_without_a_request_is_closed_in_silence() {
    let origin = Origin::ok();
    let proxy = limited(r#"idle = "1s""#, &origin);
    let mut first = proxy.connect();
    assert!(first.closes_within(SOON));
    let mut second = proxy.connect();
    assert_eq!(second.ask(&get("/x")).status, 200);
    assert!(second.closes_within(SOON));
    proxy.access_log(1);
}

#[test]
fn a_body_that_stands_still_is_408() {
    let origin = Origin::ok();
    let proxy = limited(r#"body = "200ms""#, &origin);
    let switch = "Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 10";
    for framing in ["Content-Length: 10", "Transfer-Encoding: chunked", switch] {
        let mut client = proxy.connect();
        client.send(format!("POST /x HTTP/1.1\r\nHost: a.test\r\n{framing}\r\n\r\n5\r\nhel"));
        assert_eq!(client.response_to("POST").status, 408, "{framing}");
        assert!(client.closes_within(SOON), "{framing}");
    }
    assert!(proxy.access_log(3).iter().all(|line| line["error"] == "request-timeout"));
}

/// The client takes nothing of a long answer.
#[test]
fn c37_a_client_that_reads_nothing_is_let_go() {
    let body = "x".repeat(32 * 1024 * 1024);
    let origin = Origin::body(&body);
    let proxy = limited(r#"write = "2s""#, &origin);
    let mut client = proxy.connect();
    client.send(get("/x").bytes());
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!(line["error"], "client-gone", "{line}");
    wait_for(DEADLINE, "the upstream's connection to end", || origin.closed() == 1);
    drop(client);
    // Someone who reads is not in anybody's way.
    assert_eq!(proxy.get("/x").body.len(), body.len());
}

/// Clients that take a byte now and then hold what is for others no longer than those that take nothing.
#[test]
fn c37_clients_that_read_a_byte_at_a_time_are_let_go() {
    const CLIENTS: usize = 10;
    let body = "x".repeat(8 * 1024 * 1024);
    let origin = Origin::body(&body);
    let proxy = Setup::new()
        .server(r#"timeouts = { write = "2s" }"#)
        .with_h2()
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let open = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    // A window of one byte for each stream (RFC 9113, section 6.5.2), and `GET http://a.test/` in HPACK.
    let modern = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x01\
        \0\0\x0b\x01\x05\0\0\0\x01\x82\x86\x84\x41\x06a.test";
    // One byte more for stream 1.
    let update = b"\0\0\x04\x08\0\0\0\0\x01\0\0\0\x01";
    let mut old: Vec<_> = (0..CLIENTS).map(|_| open(&get("/x").bytes())).collect();
    let mut new: Vec<_> = (0..CLIENTS).map(|_| open(modern)).collect();
    origin.wait_for_requests(2 * CLIENTS);
    wait_for(DEADLINE, "all of them to be let go", || {
        for client in &mut old {
            let _ = client.read(&mut [0; 1]);
        }
        for client in &mut new {
            let _ = client.write_all(update);
            let _ = client.read(&mut [0; 16]);
        }
        assert_eq!(proxy.admin("/healthz").status, 200);
        proxy.stdout().lines().filter(|line| line.contains("client-gone")).count() == 2 * CLIENTS
    });
    wait_for(DEADLINE, "the upstream's connections to end", || origin.closed() >= 2 * CLIENTS);
    assert_eq!(proxy.get("/x").body.len(), body.len());
}

#[test]
fn a_client_that_sends_tls_nothing_is_let_go() {
    let ca = edgewright_tests::Authority::new("ca");
    let certificate = ca.issue(&["a.test"]);
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server(r#"timeouts = { handshake = "200ms" }"#)
        .file("a.pem", &certificate.pem)
        .file("a.key", &certificate.key)
        .listener(r#"tls = [{ cert = "a.pem", key = "a.key" }]"#)
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert!(proxy.connect().closes_within(SOON));
}

/// By its length where that is told, and else as it comes.
#[test]
fn case_20_a_body_over_the_limit_is_413() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server(r#"limits = { body = "1KiB" }"#)
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.ask(&ask("POST", "/x").body("x".repeat(1024))).status, 200);
    assert_eq!(proxy.ask(&ask("POST", "/x").body("x".repeat(1025))).status, 413);
    let chunks = |size: usize| {
        let mut client = proxy.connect();
        let chunk = format!("{size:x}\r\n{}\r\n", "x".repeat(size));
        client.send(format!(
            "POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n"
        ));
        let response = client.response_to("POST");
        client.expect_sound(&response);
        response.status
    };
    assert_eq!(chunks(512), 200);
    assert_eq!(chunks(513), 413);
    assert!(origin.requests().iter().all(|request| request.body.len() <= 1024));
    let refused = proxy.access_log(5).into_iter().filter(|line| line["status"] == 413);
    assert!(refused.clone().count() == 2 && refused.clone().all(|line| line["error"] == "body-too-large"));
}
