//! The `Host` of a request: how it is matched, and what is refused.

use edgewright_tests::{Connection, DEADLINE, Origin, Setup, get, guest};

#[test]
fn case_01_a_host_matches_in_every_legal_spelling() {
    let (one, two) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "")
        .upstream("one", &one)
        .upstream("two", &two)
        .route(
            "app",
            "match = { host = \"App.Example.test\" }\nplugins = [{ name = \"mark\", config = { name = \"app\" } }]",
            "one",
        )
        .route("default", "", "two")
        .start();
    let check = |host: &str, route_a: usize| {
        let before = (one.requests().len(), two.requests().len());
        assert_eq!(proxy.ask(&get("/x").host(host)).status, 200, "{host}");
        let after = (one.requests().len(), two.requests().len());
        assert_eq!((after.0 - before.0, after.1 - before.1), (route_a, 1 - route_a), "{host}");
        if route_a == 1 {
            assert_eq!(one.last().field("x-mark").as_deref(), Some("app"), "{host}");
        }
    };
    check("app.example.test", 1);
    check("APP.EXAMPLE.TEST", 1);
    check("app.example.test:8080", 1);
    check("app.example.test.", 1);
    check("app.example.test.:8080", 1);
    check("app.example.test.evil.test", 0);
    check("xapp.example.test", 0);
    check("example.test", 0);
    // The upstream is told what the client said.
    let sent: Vec<_> = one.requests().iter().map(|request| request.field("host").unwrap()).collect();
    assert_eq!(
        sent,
        [
            "app.example.test",
            "APP.EXAMPLE.TEST",
            "app.example.test:8080",
            "app.example.test.",
            "app.example.test.:8080"
        ]
    );
}

#[test]
fn g05_case_09_a_missing_repeated_or_malformed_host_is_refused() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let refused: [&[u8]; 10] = [
        b"",
        b"Host: a.test\r\nHost: a.test\r\n",
        b"Host: a b\r\n",
        b"Host: a/b\r\n",
        b"Host: a?x\r\n",
        b"Host: u@a\r\n",
        b"Host: a:abcd\r\n",
        b"Host: [::1\r\n",
        b"Host: \xa1\xb1\"\\\r\n",
        b"Host:\r\n",
    ];
    for lines in refused {
        let shown = lines.escape_ascii();
        let mut client = proxy.connect();
        client.send([b"GET /long/enough/path HTTP/1.1\r\n".as_slice(), lines, b"\r\n"].concat());
        let response = client.response_to("GET");
        assert_eq!(response.status, 400, "{shown}");
        assert_eq!(
            response.field("connection").map(|v| v.to_ascii_lowercase()).as_deref(),
            Some("close"),
            "{shown}"
        );
        assert!(client.closes_within(DEADLINE), "{shown}");
    }
    assert_eq!(origin.connections(), 0);

    let control = |request: &[u8]| {
        let mut client = Connection::open(proxy.address());
        client.send(request);
        assert_eq!(client.response_to("GET").status, 200, "{}", request.escape_ascii());
    };
    control(b"GET /long/enough/path HTTP/1.1\r\nHost: a.test\r\n\r\n");
    control(b"GET /long/enough/path HTTP/1.0\r\n\r\n");
    control(b"GET /long/enough/path HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
    assert_eq!(origin.requests().len(), 3);

    // One line each, whatever was in them.
    let lines = proxy.access_log(refused.len() + 3);
    let statuses: Vec<_> = lines.iter().map(|line| line["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), refused.len(), "{lines:#?}");
}

/// RFC 5952, section 4: one address, one spelling.
#[test]
fn a_host_that_is_an_address_matches_in_every_spelling() {
    let (one, two) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .upstream("one", &one)
        .upstream("two", &two)
        .route("loopback", "match = { host = \"[::1]\" }", "one")
        .route("default", "", "two")
        .start();
    let check = |host: &str, loopback: bool| {
        let before = one.requests().len();
        assert_eq!(proxy.ask(&get("/x").host(host)).status, 200, "{host}");
        assert_eq!(one.requests().len() - before, usize::from(loopback), "{host}");
    };
    check("[::1]", true);
    check("[::1]:8080", true);
    check("[0:0:0:0:0:0:0:1]", true);
    check("[0:0:0:0:0:0:0:1]:8080", true);
    check("[0000::0001]", true);
    check("[::2]", false);
}
