//! Plugins that change a method or a status: what goes up follows the plugin, what goes down is framed for the
//! client.

use edgewright_tests::{Origin, Proxy, Setup, ask, get, guest};

fn with(name: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .plugin(name, &guest(name), "isolation = \"reuse\"")
        .upstream("main", origin)
        .route_all(&format!("[\"{name}\"]"), "main")
        .start()
}

#[test]
fn a_changed_method_is_the_upstreams_and_framing_is_the_clients() {
    let origin = Origin::answer(|request| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        let body = if request.head.method() == "HEAD" { "" } else { "hello" };
        [head, body].concat().into_bytes()
    });
    let check = |from: &str, to: &str, sent: &str, got: &str| {
        let shown = format!("{from} as {to}");
        let before = origin.requests().len();
        let proxy = with("method", &origin);
        let mut client = proxy.connect();
        let mut request = ask(from, "/x").header("X-Method", to);
        if !sent.is_empty() {
            request = request.body(sent);
        }
        let response = client.ask(&request);
        assert_eq!((response.status, response.text().as_str()), (200, got), "{shown}");
        let seen = origin.requests().split_off(before);
        assert_eq!(seen[0].head.method(), to, "{shown}");
        assert_eq!(seen[0].field("x-method-result").as_deref(), Some("Ok(())"), "{shown}");
        assert_eq!(seen[0].body, sent.as_bytes(), "{shown}");
        assert_eq!(proxy.access_log(1)[0]["method"], from, "{shown}");
        client.expect_sound(&response);
        assert_eq!(proxy.get("/other").text(), "hello", "{shown}");
    };
    check("HEAD", "GET", "", "");
    check("GET", "HEAD", "", "");
    check("GET", "POST", "", "hello");
    check("POST", "PUT", "body", "hello");
    check("POST", "GET", "body", "hello");
}

/// RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5.
#[test]
fn a_changed_status_is_framed_as_it_must_be() {
    let check = |reply: &'static str, status: u16, length: Option<&str>, body: &str| {
        let origin = Origin::answer(move |request| {
            let reply = if request.head.has("x-status") { reply } else { edgewright_tests::origin::OK };
            reply.as_bytes().to_vec()
        });
        let proxy = with("status", &origin);
        for _ in 0..2 {
            let mut client = proxy.connect();
            let response = client.ask(&get("/x").header("X-Status", status.to_string()));
            let shown = format!("{status} of {reply:?}: {:?}", response.head);
            assert_eq!((response.status, response.text().as_str()), (status, body), "{shown}");
            assert_eq!(response.field("x-status-result").as_deref(), Some("Ok(())"), "{shown}");
            assert_eq!(response.field("content-length").as_deref(), length, "{shown}");
            client.expect_sound(&response);
        }
    };
    let no_content = "HTTP/1.1 204 No Content\r\n\r\n";
    let not_modified = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n";
    let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    check(no_content, 200, Some("0"), "");
    check(not_modified, 200, Some("0"), "");
    check(hello, 204, None, "");
    check(chunks, 204, None, "");
    check(hello, 205, Some("0"), "");
    check(chunks, 205, Some("0"), "");
    check(hello, 304, None, "");
    check(hello, 404, Some("5"), "hello");
    check(chunks, 404, None, "hello");
}
