//! Heads that two parties could read in two ways, or that are too long: refused with the status that says why, and
//! never sent on. Names carry the ids of the acceptance cases.

use edgewright_tests::{DEADLINE, Origin, Proxy, Setup, get};

fn plain(origin: &Origin) -> Proxy {
    Setup::new().upstream("main", origin).route("default", "", "main").start()
}

/// Each of these is answered with that status, closes its connection, and has a line in the log; the origin sees
/// none of it, and a request behind them is fine.
fn refused(rows: &[(&str, u16)]) {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    for (number, (head, status)) in rows.iter().enumerate() {
        let mut client = proxy.connect();
        client.send(head);
        let response = client.response_to("GET");
        assert_eq!(response.status, *status, "{}", head.escape_debug());
        assert_eq!(response.field("connection").unwrap().to_ascii_lowercase(), "close");
        assert!(client.closes_within(DEADLINE), "{}", head.escape_debug());
        let line = proxy.access_log(number + 1).pop().unwrap();
        assert_eq!(line["status"], *status, "{line}");
    }
    assert_eq!(origin.connections(), 0);
    assert_eq!(proxy.get("/x").status, 200);
}

/// A request with these lines and a body in one chunk.
fn with(fields: &str) -> String {
    format!("POST /x HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
}

#[test]
fn g03_c07_a_length_beside_chunks_is_refused() {
    refused(&[
        (&with("Content-Length: 5\r\nTransfer-Encoding: chunked"), 400),
        (&with("Transfer-Encoding: chunked\r\nContent-Length: 5"), 400),
        (
            "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
            400,
        ),
    ]);
}

#[test]
fn g04_c09_codings_other_than_chunked_are_refused() {
    refused(&[
        (&with("Transfer-Encoding: gzip, chunked"), 501),
        (&with("Transfer-Encoding: x, chunked"), 400),
        (&with("Transfer-Encoding: chunked, identity"), 400),
        (&with("Transfer-Encoding: ,chunked"), 400),
        (&with("Transfer-Encoding: \x0bchunked"), 400),
        (&with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), 400),
        (&with("Transfer-Encoding : chunked"), 400),
        (&with("X: y\r\n Transfer-Encoding: chunked"), 400),
    ]);
}

/// The name is another one, and does not reach the upstream (underscores are dropped).
#[test]
fn c09_a_coding_by_another_name_frames_nothing() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nTransfer_Encoding: chunked\r\n\r\n");
    assert_eq!(client.response_to("GET").status, 200);
    assert!(!origin.last().head.has("transfer_encoding"));
}

#[test]
fn c03_chunks_of_http_1_0_are_refused() {
    refused(&[(
        "POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n",
        400,
    )]);
}

#[test]
fn g06_c13_hosts_that_are_none_are_refused() {
    let request = |host: &str| format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let hosts = ["a.test/admin", "a.test b.test", "a:80x", "a,b", "a@b", "[::1"].map(request);
    refused(&hosts.each_ref().map(|head| (head.as_str(), 400)));
}

#[test]
fn g07_targets_of_other_forms_are_refused() {
    let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n\r\n");
    let targets = ["@evil.test/", "ftp://a.test/", "*", "x", "//", "http:///x"].map(request);
    let statuses = [400, 400, 400, 400, 200, 400];
    let rows: Vec<_> = targets.iter().map(String::as_str).zip(statuses).filter(|row| row.1 == 400).collect();
    refused(&rows);
}

#[test]
fn g08_targets_with_white_space_or_control_characters_are_refused() {
    let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n\r\n");
    let targets = ["/a b", "/a\tb", "/a\rb", "/a\0b", "/a\x7fb", "/a#b", " /a", "/a "].map(request);
    refused(&targets.each_ref().map(|head| (head.as_str(), 400)));
}

#[test]
fn g09_c39_what_is_too_long_is_told_by_its_part() {
    let line = |length: usize| format!("GET /x HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(length));
    let lines = |count: usize| format!("GET /x HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(count));
    let target = |length: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(length));
    refused(&[
        (&line(32 * 1024), 431),
        (&line(900 * 1024), 431),
        (&lines(100), 431),
        (&target(8 * 1024), 414),
        (&target(200 * 1024), 414),
    ]);
    let origin = Origin::ok();
    let proxy = plain(&origin);
    for head in [line(31 * 1024), lines(95), target(8 * 1024 - 2)] {
        let mut client = proxy.connect();
        client.send(&head);
        assert_eq!(client.response_to("GET").status, 200, "{}", head.len());
    }
}

#[test]
fn the_limits_of_heads_can_be_set() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server(r#"limits = { header-bytes = "2KiB", header-lines = 3, target-bytes = "1KiB" }"#)
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let check = |ask: edgewright_tests::Ask, status: u16| assert_eq!(proxy.ask(&ask).status, status);
    check(get("/x").header("A", "x".repeat(1000)).header("B", "y"), 200);
    check(get("/x").header("A", "x".repeat(2048)), 431);
    check(get("/x").header("A", "x").header("B", "y").header("C", "z"), 431);
    check(get(format!("/{}", "x".repeat(1024))), 414);
}

#[test]
fn a_version_that_is_not_spoken_is_505() {
    refused(&[
        ("GET /x HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET /x HTTP/9.9\r\nHost: a\r\n\r\n", 505),
        ("GET /x http/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /x\r\n\r\n", 400),
        ("\x16\x03\x01\x02\0\x01\0\r\n", 400),
    ]);
}

#[test]
fn g14_c43_tunnels_and_traces_are_refused() {
    refused(&[
        ("TRACE /x HTTP/1.1\r\nHost: a.test\r\n\r\n", 405),
        (
            "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n",
            405,
        ),
    ]);
}

/// Also in pieces, and behind bodies of either framing.
#[test]
fn g13_case_10_pipelined_requests_are_answered_in_order() {
    let origin = Origin::answer(|request| {
        let body = format!("{} {}", request.target(), String::from_utf8_lossy(&request.body));
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    });
    let proxy = plain(&origin);
    let requests = [
        "GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "POST /2 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello",
        "POST /3 HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "GET /4 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "\r\nGET /5 HTTP/1.1\r\nHost: a.test\r\n\r\n",
    ];
    let expected = ["/1 ", "/2 hello", "/3 abc", "/4 ", "/5 "];
    let all = requests.concat();
    for cut in [all.len(), 10, 40, 60, 100, 112, 200, 203] {
        let mut client = proxy.connect();
        let (first, second) = all.split_at(cut);
        client.send(first);
        client.send(second);
        for body in expected {
            let response = client.response_to("GET");
            assert_eq!((response.status, response.text().as_str()), (200, body), "cut at {cut}");
            assert!(response.field("connection").is_none_or(|it| !it.eq_ignore_ascii_case("close")));
        }
    }
    // What is wrong with a later one is the later one's.
    let mut client = proxy.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET /a b HTTP/1.1\r\nHost: a.test\r\n\r\n");
    assert_eq!(client.response_to("GET").text(), "/1 ");
    assert_eq!(client.response_to("GET").status, 400);
}

#[test]
fn a_connection_ends_after_so_many_requests() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("limits = { requests = 2 }")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/1")).field("connection").as_deref(), Some("keep-alive"));
    assert_eq!(client.ask(&get("/2")).field("connection").as_deref(), Some("close"));
    assert!(client.closes_within(DEADLINE));
}
