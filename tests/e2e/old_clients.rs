//! Clients of HTTP/1.0, and of HTTP/1 on listeners that take HTTP/2, too.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use edgewright_tests::{DEADLINE, Origin, Setup};

/// An answer is due at once: nothing that it could wait for is missing.
const AT_ONCE: Duration = Duration::from_secs(5);

/// RFC 9112, section 6.1.
#[test]
fn case_08_a_client_of_http_1_0_gets_no_chunks() {
    let origin = Origin::script(|request, wire| match request.target().as_str() {
        "/chunked" => wire
            .send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"),
        "/close" => {
            wire.send(b"HTTP/1.1 200 OK\r\n\r\nhello")?;
            Err(ErrorKind::ConnectionAborted.into())
        }
        _ => wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    });
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let check = |target: &str, connection: &str, stays: bool| {
        let shown = format!("{target}, {connection}");
        let request = format!("GET {target} HTTP/1.0\r\nHost: a.test\r\nConnection: {connection}\r\n\r\n");
        let mut client = proxy.connect();
        client.send(&request);
        let response = client.response_to("GET");
        assert_eq!((response.status, response.text().as_str()), (200, "hello"), "{shown}");
        assert!(!response.head.has("transfer-encoding"), "{shown}: {:?}", response.head);
        if stays {
            assert_eq!(response.field("content-length").as_deref(), Some("5"), "{shown}");
            client.send(&request);
            assert_eq!(client.response_to("GET").text(), "hello", "{shown}");
        } else {
            assert!(client.closes_within(DEADLINE), "{shown}");
        }
    };
    check("/chunked", "close", false);
    check("/chunked", "keep-alive", false);
    check("/close", "close", false);
    check("/close", "keep-alive", false);
    check("/length", "close", false);
    check("/length", "keep-alive", true);
}

/// RFC 9112, section 3.2.2.
#[test]
fn an_absolute_target_of_http_1_0_takes_the_route_of_its_host() {
    let (one, two) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .upstream("one", &one)
        .upstream("two", &two)
        .route("app", "match = { host = \"app.test\" }", "one")
        .route("default", "", "two")
        .start();
    let mut client = proxy.connect();
    client.send("GET http://app.test/long HTTP/1.0\r\n\r\n");
    assert_eq!(client.response_to("GET").status, 200);
    assert_eq!((one.requests().len(), two.requests().len()), (1, 0));
    let seen = one.last();
    assert_eq!(seen.target(), "/long");
    assert!(seen.head.has("host"), "{:?}", seen.head);
}

/// RFC 9112, section 3.2: what is sent on is HTTP/1.1, which has one.
#[test]
fn a_request_without_host_reaches_the_upstream_with_one() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    client.send("GET /long/enough/path HTTP/1.0\r\n\r\n");
    assert_eq!(client.response_to("GET").status, 200);
    let seen = origin.last();
    assert_eq!(seen.head.start, b"GET /long/enough/path HTTP/1.1");
    assert!(seen.field("host").is_some_and(|host| !host.is_empty()), "{:?}", seen.head);
}

#[test]
fn g01_case_11_a_request_shorter_than_the_preface_is_answered_at_once() {
    let origin = Origin::ok();
    let proxy = Setup::new().with_h2().upstream("main", &origin).route("default", "", "main").start();
    let check = |request: &str, status: u16| {
        let start = Instant::now();
        let mut client = proxy.connect();
        client.send(request);
        assert_eq!(client.response_to("GET").status, status, "{request:?}");
        assert!(start.elapsed() < AT_ONCE, "{request:?}: {:?}", start.elapsed());
    };
    check("GET / HTTP/1.0\r\n\r\n", 200);
    check("GET / HTTP/1.1\r\n\r\n", 400);
    // It begins as the preface does.
    check("P / HTTP/1.0\r\n\r\n", 200);
    assert_eq!(origin.requests().len(), 2);
}

/// RFC 9113, section 3.4: it may be the beginning of one.
#[test]
fn g01_case_11_a_part_of_a_preface_is_waited_for_within_a_limit() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server(r#"timeouts = { idle = "1s" }"#)
        .with_h2()
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    for part in ["", "P", "PRI * HTTP/2.0\r\n"] {
        let mut client = proxy.connect();
        client.send(part);
        assert!(client.closes_within(DEADLINE), "{part:?}");
        assert_eq!(proxy.get("/x").status, 200);
    }
}

/// RFC 9113, section 3.4.
#[test]
fn case_11_a_preface_in_two_writes_is_http_2() {
    let origin = Origin::ok();
    let proxy = Setup::new().with_h2().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    client.send(b"PRI * HTTP/2.0\r\n");
    assert!(!client.closes_within(Duration::from_millis(100)), "the rest is waited for");
    client.send(b"\r\nSM\r\n\r\n");
    // An empty SETTINGS frame, and HEADERS of stream 1 with `GET http://a.test/` in HPACK.
    client.send(b"\0\0\0\x04\0\0\0\0\0");
    client.send(b"\0\0\x0b\x01\x05\0\0\0\x01\x82\x86\x84\x41\x06a.test");
    origin.wait_for_requests(1);
    assert_eq!(origin.last().head.start, b"GET / HTTP/1.1");
    assert_eq!(proxy.access_log(1)[0]["protocol"], "HTTP/2");
}

/// As scripts do that send a file and end their side with it. One answer of five in time is enough: a busy machine may
/// take longer than the proxy waits to learn whether such a client is gone.
#[test]
fn a_client_that_ends_its_side_behind_the_request_gets_its_answer() {
    let origin = Origin::script(|_, wire| {
        // Nothing comes meanwhile: a moment of work.
        wire.patience(Some(Duration::from_millis(100)));
        let _ = wire.fill();
        wire.patience(None);
        wire.send(edgewright_tests::origin::OK.as_bytes())
    });
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let request = edgewright_tests::ask("POST", "/x").body("all of it");
    let answered = (0..5).any(|_| {
        let mut client = proxy.connect();
        client.send(request.bytes());
        client.finish();
        let answer = client.try_response_to("POST");
        answer.is_ok_and(|answer| answer.status == 200) && client.closes_within(DEADLINE)
    });
    assert!(answered);
}
