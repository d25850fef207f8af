//! Bodies of requests that plugins read, replace and refuse.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};

use edgewright_tests::message::Framing;
use edgewright_tests::{Connection, DEADLINE, Origin, Proxy, Setup, ask, get, guest, h2c};

const STREAM: &str = "isolation = \"reuse\"\nbody = { request = \"stream\" }";
const BUFFER: &str = "isolation = \"reuse\"\nbody = { request = { buffer = \"1MiB\" } }";

fn shouting(manifest: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .with_h2()
        .access_log("path = \"stdout\"\nattributes = [\"shout.calls\", \"shout.body\"]")
        .plugin("shout", &guest("shout"), manifest)
        .upstream("main", origin)
        .route_all(r#"["shout"]"#, "main")
        .start()
}

/// Sends a head and pieces of a body, each in a write of its own.
fn post(client: &mut Connection, fields: &str, pieces: &[&str]) {
    client.send(format!("POST /x HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n"));
    for piece in pieces {
        client.send(piece);
    }
}

#[test]
fn case_18_a_replaced_body_has_true_framing() {
    for manifest in [STREAM, BUFFER] {
        let origin = Origin::ok();
        let proxy = shouting(manifest, &origin);
        let mut client = proxy.connect();
        let mut check = |fields: &str, pieces: &[&str], body: &str| {
            post(&mut client, fields, pieces);
            let response = client.response_to("POST").expect_status(200);
            assert_eq!(response.text(), "ok", "{manifest}: {fields}");
            let seen = origin.last();
            assert_eq!(seen.body, body.as_bytes(), "{manifest}: {fields}");
            let framing = if manifest == STREAM { Framing::Chunked } else { Framing::Length(body.len()) };
            assert_eq!(seen.framing, framing, "{manifest}: {:?}", seen.head);
            let lines = seen.head.all("content-length").len() + seen.head.all("transfer-encoding").len();
            assert_eq!(lines, 1, "{manifest}: {:?}", seen.head);
        };
        check("Content-Length: 11\r\n", &["hel", "lo wo", "rld"], "HELLO WORLD!");
        check(
            "Transfer-Encoding: chunked\r\n",
            &["3\r\nhel\r\n", "8\r\nlo world\r\n", "0\r\n\r\n"],
            "HELLO WORLD!",
        );
        check("Content-Length: 0\r\n", &[], "!");
        check("Content-Length: 5\r\nX-Body: empty\r\n", &["hello"], "");
        check("Content-Length: 11\r\n", &["hel", "lo wo", "rld"], "HELLO WORLD!");
        assert_eq!(h2c::post(proxy.address(), "/x", &["hel", "lo"]).status, 200, "{manifest}");
        assert_eq!(origin.last().body, b"HELLO!");
        assert_eq!(origin.connections(), 1, "{manifest}: the connection stays in use");
        // A request without a body has none to look at.
        let _ = client.ask(&get("/x")).expect_status(200);
        let seen = origin.last();
        assert!(seen.body.is_empty() && seen.framing == Framing::None, "{:?}", seen.head);
        let line = proxy.access_log(7).pop().unwrap();
        assert!(line["attributes"]["shout.calls"].is_null(), "{line}");
    }
}

#[test]
fn a_buffered_body_is_one_chunk_and_a_streamed_one_is_not_held_back() {
    let origin = Origin::ok();
    let proxy = shouting(BUFFER, &origin);
    let mut client = proxy.connect();
    post(&mut client, "Content-Length: 6\r\n", &["ab", "cd"]);
    // Not even a connection is made before all of it is there.
    assert_eq!(origin.connections(), 0);
    client.send("ef");
    let _ = client.response_to("POST").expect_status(200);
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!(
        (&line["attributes"]["shout.calls"], &line["attributes"]["shout.body"]),
        (&"i".into(), &"6".into())
    );
}

#[test]
fn a_body_is_refused_by_a_plugin() {
    for manifest in [STREAM, BUFFER] {
        let origin = Origin::ok();
        let proxy = shouting(manifest, &origin);
        let check = |what: &str, status: u16, text: &str| {
            let mut client = proxy.connect();
            let response = client.ask(&ask("POST", "/x").header("X-Body", what).body("hello"));
            assert_eq!(response.status, status, "{manifest}: {what}");
            assert!(response.text().contains(text), "{manifest}: {what}: {}", response.text());
            client.expect_sound(&response);
        };
        check("refuse", 422, "not this body");
        check("boom", 503, "503");
        // P3, in a body phase.
        check("spin", 503, "503");
        assert!(origin.requests().iter().all(|request| request.body.is_empty()), "{:?}", origin.requests());
        assert_eq!(proxy.ask(&ask("POST", "/x").body("hello")).status, 200);
        assert_eq!(origin.last().body, b"HELLO!");
    }
}

#[test]
fn a_plugin_that_fails_open_is_left_out_of_the_rest() {
    let origin = Origin::ok();
    for manifest in [STREAM, BUFFER] {
        let proxy = shouting(&format!("on-failure = \"open\"\n{manifest}"), &origin);
        let mut client = proxy.connect();
        post(&mut client, "X-Body: boom\r\nContent-Length: 5\r\n", &["hel", "lo"]);
        let _ = client.response_to("POST").expect_status(200);
        assert_eq!(origin.last().body, b"hello", "{manifest}");
        let failures =
            proxy.metrics_at_rest().sum("edgewright_plugin_failures_total", &[("plugin", "shout")]);
        assert!((failures - 1.0).abs() < f64::EPSILON, "{failures}");
    }
}

/// RFC 9110, section 10.1.1.
#[test]
fn a_client_that_expects_100_gets_it_before_its_body_is_read() {
    for manifest in [STREAM, BUFFER] {
        let origin = Origin::ok();
        let proxy = shouting(manifest, &origin);
        let mut client = proxy.connect();
        for _ in 0..2 {
            post(&mut client, "Content-Length: 5\r\nExpect: 100-continue\r\n", &[]);
            assert_eq!(client.head().status(), 100, "{manifest}");
            client.send("hello");
            let _ = client.response_to("POST").expect_status(200);
            let seen = origin.last();
            assert_eq!(seen.body, b"HELLO!");
            assert!(!seen.head.has("expect"), "{:?}", seen.head);
        }
    }
}

fn signature(method: &str, target: &str, body: &[u8]) -> String {
    let parts: [&[u8]; 3] = [method.as_bytes(), target.as_bytes(), body];
    let bytes = parts.iter().flat_map(|part| part.iter().chain(b"\n"));
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{sum:016x}")
}

fn signed(main: &Origin, blue: &Origin) -> Proxy {
    Setup::new()
        // A megabyte is much for the arithmetic of a program that is not optimised.
        .plugin("signed", &guest("signed"), &format!("{BUFFER}\nlimits = {{ time = \"2s\" }}"))
        .upstream("main", main)
        .upstream("blue", blue)
        .route_all(r#"["signed"]"#, "main")
        .start()
}

#[test]
fn case_19_a_plugin_decides_by_the_body_and_the_body_still_arrives() {
    let (main, blue) = (Origin::ok(), Origin::ok());
    let proxy = signed(&main, &blue);
    let target = "/pay?b=2&a=1&c=%2F";
    let mut client = proxy.connect();
    for size in [0, 5, 64 * 1024 + 1, 300 * 1024, 1024 * 1024] {
        let body: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let good = ask("POST", target).header("X-Signature", signature("POST", target, &body)).body(&body);
        for _ in 0..2 {
            let _ = client.ask(&good).expect_status(200);
            let seen = main.last();
            assert!(seen.body == body && seen.target() == target, "{size} bytes: {:?}", seen.head);
        }
        let before = main.requests().len();
        let wrong = ask("POST", target).header("X-Signature", "0").body(&body);
        let _ = client.ask(&wrong).expect_status(401);
        assert_eq!(main.requests().len(), before, "{size} bytes");
    }
    // In chunks, and with a method that usually has no body.
    let sum = signature("POST", target, b"hello world");
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: a.test\r\nX-Signature: {sum}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    client.send(head);
    client.send("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    let _ = client.response_to("POST").expect_status(200);
    assert_eq!(
        (main.last().body.as_slice(), main.last().framing),
        (b"hello world".as_slice(), Framing::Length(11))
    );
    let _ = client.ask(&get("/x").header("X-Signature", signature("GET", "/x", b""))).expect_status(200);
    assert_eq!(main.last().framing, Framing::None);
    // Routed by its body.
    let body = b"to=blue, please";
    let _ = client
        .ask(&ask("POST", "/x").header("X-Signature", signature("POST", "/x", body)).body(body))
        .expect_status(200);
    assert_eq!(blue.last().body, body);
}

#[test]
fn case_20_c49_a_body_over_the_buffer_is_413_and_no_plugin_is_called() {
    let (main, blue) = (Origin::ok(), Origin::ok());
    let proxy = signed(&main, &blue);
    // Told, and not sent; told and sent; found out.
    let mut client = proxy.connect();
    client
        .send("POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1048577\r\nExpect: 100-continue\r\n\r\n");
    let response = client.response_to("POST").expect_status(413);
    assert_eq!(response.field("connection").as_deref(), Some("close"));
    assert!(client.closes_within(DEADLINE));
    let body = vec![b'x'; 2 * 1024 * 1024];
    let _ = proxy.ask(&ask("POST", "/x").body(&body)).expect_status(413);
    let mut client = proxy.connect();
    client.send("POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, "x".repeat(64 * 1024));
    for _ in 0..17 {
        client.send(&chunk);
    }
    let response = client.response_to("POST").expect_status(413);
    assert_eq!(response.field("connection").as_deref(), Some("close"));
    assert_eq!(main.connections(), 0);
    let lines = proxy.access_log(3);
    assert!(lines.iter().all(|line| line["error"] == "body-too-large"), "{lines:#?}");
    let calls = proxy.metrics_at_rest().sum("edgewright_plugin_calls_total", &[("plugin", "signed")]);
    assert!(calls.abs() < f64::EPSILON, "{calls} calls");
}

#[test]
fn a_buffered_body_is_sent_again_and_a_streamed_one_is_not() {
    // The first connection is closed once it is used again.
    let check = |manifest: &str, status: u16| {
        let count = AtomicUsize::new(0);
        let origin = Origin::script(move |_, wire| {
            if count.fetch_add(1, Ordering::SeqCst) == 1 {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            wire.send(edgewright_tests::origin::OK.as_bytes())
        });
        let proxy = shouting(manifest, &origin);
        let mut client = proxy.connect();
        let body = vec![b'a'; 200 * 1024];
        let _ = client.ask(&ask("PUT", "/x").body(&body)).expect_status(200);
        let again = client.ask(&ask("PUT", "/x").body(&body));
        assert_eq!(again.status, status, "{manifest}");
        let bodies: Vec<_> = origin.requests().iter().map(|request| request.body.len()).collect();
        assert!(bodies.iter().all(|length| *length == body.len() + 1), "{manifest}: {bodies:?}");
    };
    check(BUFFER, 200);
    check(STREAM, 502);
}

/// C17: nothing of the client's own framing or bytes is left.
#[test]
fn c17_no_bytes_of_a_replaced_body_leak() {
    let origin = Origin::ok();
    for manifest in [STREAM, BUFFER] {
        let proxy = shouting(manifest, &origin);
        let mut client = proxy.connect();
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";
        post(&mut client, &format!("X-Body: empty\r\nContent-Length: {}\r\n", smuggled.len()), &[smuggled]);
        let _ = client.response_to("POST").expect_status(200);
        let _ = client.ask(&get("/next")).expect_status(200);
        let seen: Vec<_> = origin.requests().iter().map(|request| request.target()).collect();
        assert!(!seen.contains(&"/smuggled".to_owned()), "{seen:?}");
        assert_eq!(seen.last().map(String::as_str), Some("/next"));
    }
}

#[test]
fn a_manifest_that_asks_for_too_much_is_a_load_error() {
    let origin = Origin::ok();
    let check = |name: &str, manifest: &str, message: &str| {
        let finished = Setup::new()
            .plugin("guest", &guest(name), manifest)
            .upstream("main", &origin)
            .route_all(r#"["guest"]"#, "main")
            .run_to_end()
            .expect_code(1);
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
    };
    check("mark", "body = { request = \"stream\" }", "does not export `request-body-filter`");
    check("mark", "body = { response = { buffer = \"1MiB\" } }", "does not export `response-body-filter`");
    check("patient", "", "exports `response-body-filter`, which can't wait, and imports what waits");
    check("rescue", "limits = { time = \"20ms\" }", "`limits.time` is over 10 ms");
    check("mark", "body = { request = \"whole\" }", "unknown word `whole`");
    check("mark", "body = { request = { buffer = \"1GiB\" } }", "out of range");
    check("mark", "body = { request = {} }", "`buffer` is missing");
    check("mark", "body = { requests = \"stream\" }", "did you mean `request`");
}
