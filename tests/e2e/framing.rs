//! Where a body ends: answers of plugins for every kind of request, and connections that go on behind them.

use edgewright_tests::{Origin, Setup, ask, get, guest};

fn answering(config: &str) -> (edgewright_tests::Proxy, Origin) {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(&format!("[{{ name = \"answer\", config = {config} }}]"), "main")
        .start();
    (proxy, origin)
}

#[test]
fn an_answer_of_a_plugin_is_framed_by_the_host() {
    let check = |config: &str, method: &str, status: u16, length: Option<&str>, body: &str| {
        let (proxy, origin) = answering(config);
        let mut client = proxy.connect();
        // Twice on one connection: a wrong frame would be read as part of the second answer.
        for _ in 0..2 {
            let response = client.ask(&ask(method, "/x"));
            assert_eq!((response.status, response.text().as_str()), (status, body), "{method} {config}");
            assert_eq!(response.field("content-length").as_deref(), length, "{method} {config}");
            assert!(!response.head.has("transfer-encoding"), "{method} {config}");
            assert!(response.head.has("date"), "{method} {config}");
            assert!(client.leftover().is_empty(), "{method} {config}: {}", client.leftover().escape_ascii());
        }
        assert!(origin.requests().is_empty());
    };
    check(r#"{ status = 200, body = "hello" }"#, "GET", 200, Some("5"), "hello");
    check(r#"{ status = 200, body = "hello" }"#, "HEAD", 200, Some("5"), "");
    check(r#"{ status = 204, body = "hello" }"#, "GET", 204, None, "");
    check(r#"{ status = 304, body = "hello" }"#, "GET", 304, None, "");
    check(r#"{ status = 403 }"#, "GET", 403, Some("0"), "");
    check(r#"{ status = 418, body = "tea" }"#, "DELETE", 418, Some("3"), "tea");
}

#[test]
fn an_answer_to_a_request_with_a_body_leaves_a_sound_connection() {
    let (proxy, origin) = answering(r#"{ status = 401, body = "no", when = "x-deny" }"#);
    let mut client = proxy.connect();
    let denied = client.ask(&ask("POST", "/x").header("X-Deny", "1").body("some body"));
    assert_eq!((denied.status, denied.text().as_str()), (401, "no"));
    let closes = denied.field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    if closes {
        assert!(client.closes_within(edgewright_tests::DEADLINE), "said close and went on");
    } else {
        assert_eq!(client.ask(&get("/y")).status, 200, "said nothing and closed");
        assert_eq!(origin.last().target(), "/y");
    }
}

#[test]
fn bodies_pass_unchanged_in_both_directions() {
    let origin = Origin::answer(|request| {
        let length = request.body.len();
        [format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes(), &request.body].concat()
    });
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "m" } }]"#, "main")
        .start();
    let mut client = proxy.connect();
    for size in [0_usize, 1, 1000, 100_000, 1_000_000] {
        let body: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let response = client.ask(&ask("POST", "/x").body(&body));
        assert_eq!(response.status, 200, "{size}");
        assert!(response.body == body, "{size} bytes came back changed");
    }
    client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_eq!(client.response_to("POST").text(), "abcde");
}
