//! The access log: one valid JSON line a request, with what each plugin cost and who decided.

use edgewright_tests::{Origin, Setup, ask, get, guest};
use serde_json::Value;

#[test]
fn a_line_says_what_happened_and_what_it_cost() {
    let origin = Origin::body("hello");
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(
            r#"[{ name = "mark", config = { name = "m" } }, { name = "answer", config = { status = 403, body = "no", when = "x-deny" } }]"#,
            "main",
        )
        .start();
    let mut client = proxy.connect();
    assert_eq!(
        client.ask(&ask("POST", "/a?b=c").host("A.Test:80").header("User-Agent", "kit").body("12")).status,
        200
    );
    assert_eq!(client.ask(&get("/x").header("X-Deny", "1")).status, 403);
    let lines = proxy.access_log(2);

    let line = &lines[0];
    let check = |key: &str, expected: Value| assert_eq!(line[key], expected, "{key} of {line}");
    check("client", "127.0.0.1".into());
    check("method", "POST".into());
    check("target", "/a?b=c".into());
    check("protocol", "HTTP/1.1".into());
    check("status", 200.into());
    check("request-bytes", 2.into());
    check("response-bytes", 5.into());
    check("user-agent", "kit".into());
    check("route", "all".into());
    check("upstream", "main".into());
    check("peer", origin.address().to_string().into());
    check("decided-by", Value::Null);
    check("error", Value::Null);
    assert!(line["host"].as_str().is_some_and(|host| host.eq_ignore_ascii_case("a.test:80")), "{line}");
    assert!(line["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
    assert!(line["duration-us"].as_u64().is_some_and(|us| us > 0), "{line}");
    assert_eq!(line["request-id"].as_str().map(str::len), Some(32), "{line}");
    let calls = line["plugins"].as_array().expect("the calls");
    let names: Vec<_> =
        calls.iter().map(|call| (call["name"].as_str().unwrap(), call["phase"].as_str().unwrap())).collect();
    assert_eq!(
        names,
        [
            ("mark", "request-filter"),
            ("answer", "request-filter"),
            ("answer", "response-filter"),
            ("mark", "response-filter")
        ]
    );
    assert!(calls.iter().all(|call| call["us"].as_f64().is_some_and(|us| us > 0.0)), "{line}");

    let line = &lines[1];
    assert_eq!((&line["status"], &line["decided-by"]), (&403.into(), &"answer".into()), "{line}");
    assert_eq!(line["upstream"], Value::Null, "{line}");
}

#[test]
fn junk_stays_one_valid_line() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let agents: [&[u8]; 5] =
        [b"a\"b\\c", b"tab\there", b"\x1b[2J", b"\xff\xfe", "\u{202e}\u{2028}{\"status\":1}".as_bytes()];
    for (number, agent) in agents.iter().enumerate() {
        let shown = agent.escape_ascii();
        let status = proxy.ask(&get("/x").header("User-Agent", agent)).status;
        assert!(matches!(status, 200 | 400), "{shown}: {status}");
        let line = proxy.access_log(number + 1).pop().unwrap();
        assert_eq!(line["status"], status, "{shown}");
    }
    assert!(!proxy.stdout().contains('\u{1b}'));
}

#[test]
fn the_log_goes_to_a_file_or_nowhere() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .access_log("path = \"access.log\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.get("/in-the-file").status, 200);
    let file = proxy.directory().join("access.log");
    let line = edgewright_tests::wait_for_value("a line in the file", || {
        std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))
    });
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(line["target"], "/in-the-file");
    assert!(!proxy.stdout().contains("in-the-file"));

    let proxy = Setup::new()
        .access_log("enabled = false")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.get("/nowhere").status, 200);
    let finished = proxy.terminate(edgewright_tests::DEADLINE).expect_code(0);
    assert!(!finished.stdout.contains("nowhere"), "{}", finished.stdout);
}

#[test]
fn every_line_is_written_before_the_end() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    for _ in 0..200 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    drop(client);
    let finished = proxy.terminate(edgewright_tests::DEADLINE).expect_code(0);
    assert_eq!(finished.stdout.lines().filter(|line| line.starts_with('{')).count(), 200);
}

#[test]
fn a_refused_request_shows_its_first_line_at_most() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let requests = [
        "GET /shown HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer hunter2\r\nBad Name: 1\r\n\r\n",
        "GET /shown HTTP/1.1\r\nAuthorization: Bearer hunter2\r\nHost: a.test\r\nX: \0\r\n\r\n",
        "GET /shown HTTP/9.9\r\nHost: a.test\r\nCookie: hunter2\r\n\r\n",
        "GET /shown HTTP/1.1\nHost: a.test\nCookie: hunter2\nBad Name: 1\n\n",
        "GET /shown HTTP/1.1\r\nHost: a.test\r\nContent-Length: hunter2\r\n\r\n",
        "GET /shown HTTP/1.1\r\nHost: a b\r\nCookie: hunter2\r\n\r\n",
        "GET /shown HTTP/1.1\r\nHost: a.test\r\nCookie: hunter2\r\nTransfer-Encoding: hunter2\r\n\r\n",
    ];
    for (number, request) in requests.iter().enumerate() {
        let mut client = proxy.connect();
        client.send(request);
        let status = if request.contains("HTTP/9.9") { 505 } else { 400 };
        assert_eq!(client.response_to("GET").status, status, "{request:?}");
        let line = proxy.access_log(number + 1).pop().unwrap();
        assert_eq!(line["status"], status, "{line}");
        assert!(!line.to_string().contains("hunter2"), "{request:?}: {line}");
    }
    let finished = proxy.terminate(edgewright_tests::DEADLINE).expect_code(0);
    assert!(!finished.said().contains("hunter2"), "{}", finished.said());
}

/// The lines of the log on standard output that hold this text, once there are `count`.
fn lines_with(proxy: &edgewright_tests::Proxy, text: &str, count: usize) -> Vec<String> {
    edgewright_tests::wait_for_value(&format!("{count} lines with `{text}`"), || {
        let stdout = proxy.stdout();
        let lines: Vec<String> =
            stdout.lines().filter(|line| line.contains(text)).map(str::to_owned).collect();
        (lines.len() >= count).then_some(lines)
    })
}

#[test]
fn lines_can_be_text() {
    let origin = Origin::body("hello");
    let start = |format: &str| {
        Setup::new()
            .access_log(&format!("path = \"stdout\"\nformat = {format}"))
            .upstream("main", &origin)
            .route("default", "", "main")
            .start()
    };
    let proxy = start("\"combined\"");
    let hostile =
        get("/a?b='c").header("User-Agent", b"a\"b\\c\xff{status}").header("Referer", "http://b.test/");
    assert_eq!(proxy.ask(&hostile).status, 200);
    let line = lines_with(&proxy, "/a?b=", 1).remove(0);
    let (before, after) = line.split_once(" [").expect("a time");
    let (time, after) = after.split_once("] ").expect("a time");
    assert_eq!(before, "127.0.0.1 - -");
    assert!(time.ends_with(" +0000") && time.len() == 26, "{time}");
    assert_eq!(after, r#""GET /a?b='c HTTP/1.1" 200 5 "http://b.test/" "a\x22b\x5Cc\x5Cxff{status}""#);

    let proxy = start(r#""{method} {{{target}}} {status} {upstream} {error}""#);
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(lines_with(&proxy, "/x", 1), ["GET {/x} 200 main -"]);
}

#[test]
fn fields_can_be_chosen() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .access_log(
            "path = \"stdout\"\nfields = [\"status\", \"target\", \"referer\", \"error\", \"status\"]",
        )
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.ask(&get("/x").header("Referer", "http://b.test/")).status, 200);
    assert_eq!(
        lines_with(&proxy, "/x", 1),
        [r#"{"status":200,"target":"/x","referer":"http://b.test/"}"#],
        "in that order, and without what is not known"
    );
}

#[test]
fn a_sample_has_every_failure() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .access_log("path = \"stdout\"\nsample = \"0%\"")
        .upstream("main", &origin)
        .peers("gone", &[edgewright_tests::origin::nobody()])
        .route("gone", "match = { path = \"/gone\" }", "gone")
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    for _ in 0..20 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    assert_eq!(proxy.get("/gone").status, 502);
    let lines = proxy.access_log(1);
    assert_eq!((&lines[0]["status"], &lines[0]["target"]), (&502.into(), &"/gone".into()));
}
