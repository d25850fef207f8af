//! What the contract says that a plugin may and may not do, seen from outside.

use edgewright_tests::{Origin, Proxy, Setup, get, guest};

fn with_guest(name: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .plugin(name, &guest(name), "limits = { time = \"1s\" }")
        .upstream("main", origin)
        .route_all(&format!("[\"{name}\"]"), "main")
        .start()
}

#[test]
fn p08_p09_p11_edits_that_the_host_must_refuse_are_error_values() {
    let origin = Origin::ok();
    let proxy = with_guest("edits", &origin);
    let response = proxy.ask(&get("/a/b?c=d").header("Connection", "close")).expect_status(200);
    let seen = origin.last();
    let told = |field: Option<String>| -> Vec<(String, String)> {
        let field = field.expect("the results");
        field
            .split("; ")
            .filter_map(|one| one.rsplit_once('='))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect()
    };
    let request = told(seen.field("x-edits"));
    let check = |results: &[(String, String)], name: &str, expected: &str| {
        let found = results.iter().find(|(tried, _)| tried == name).map(|(_, result)| result.as_str());
        assert_eq!(found, Some(expected), "{name}");
    };
    let both = [
        ("connection", "HostOwned"),
        ("content-length", "HostOwned"),
        ("keep-alive", "HostOwned"),
        ("proxy-connection", "HostOwned"),
        ("te", "HostOwned"),
        ("trailer", "HostOwned"),
        ("transfer-encoding", "HostOwned"),
        ("upgrade", "HostOwned"),
        (":path", "HostOwned"),
        ("", "InvalidName"),
        ("x y", "InvalidName"),
        ("x-line", "InvalidValue"),
        ("x-feed", "InvalidValue"),
        ("x-nul", "InvalidValue"),
        ("x-bytes", "ok"),
    ];
    let answer = told(response.field("x-edits"));
    for (name, expected) in both {
        check(&request, name, expected);
        check(&answer, name, expected);
    }
    check(&request, "host", "HostOwned");
    check(&request, "x-big", "TooLarge");
    for name in ["set-path", "set-path-query", "set-query", "set-method", "set-connect", "set-authority"] {
        check(&request, name, "Invalid");
    }
    check(&answer, "status-99", "Invalid");
    check(&answer, "status-600", "Invalid");
    // And nothing of it has happened.
    assert_eq!(seen.target(), "/a/b?c=d");
    assert_eq!(seen.field("host").as_deref(), Some("a.test"));
    for name in ["x-line", "x-more", "x-feed", "x-nul", "x-big"] {
        assert!(!seen.head.has(name), "{name}");
    }
    assert_eq!(seen.head.all("x-bytes"), [b"\xa1\xb1"]);
    assert_eq!(response.text(), "ok");
}

#[test]
fn attributes_last_from_the_request_to_its_response_and_no_further() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .access_log("path = \"stdout\"\nattributes = [\"attributes.user\"]")
        .plugin("attributes", &guest("attributes"), "")
        .upstream("main", &origin)
        .route_all(r#"["attributes"]"#, "main")
        .start();
    let mut client = proxy.connect();
    for user in ["alice", "bob", ""] {
        let request = if user.is_empty() { get("/x") } else { get("/x").header("X-User", user) };
        let response = client.ask(&request);
        assert_eq!(response.field("x-attribute").unwrap_or_default(), user);
        assert_eq!(origin.last().field("x-tries").as_deref(), Some("[true, true, true, true, true, true]"));
    }
    let lines = proxy.access_log(3);
    assert_eq!(lines[0]["attributes"]["attributes.user"], "alice");
    assert_eq!(lines[1]["attributes"]["attributes.user"], "bob");
}

#[test]
fn a_plugin_chooses_among_the_upstreams_of_the_configuration() {
    let (main, other) = (Origin::body("main"), Origin::body("other"));
    let proxy = Setup::new()
        .plugin("upstream", &guest("upstream"), "")
        .upstream("main", &main)
        .upstream("other", &other)
        .route_all(r#"["upstream"]"#, "main")
        .start();
    let check = |wanted: &str, body: &str, origin: &Origin, result: &str| {
        assert_eq!(proxy.ask(&get("/x").header("X-Upstream", wanted)).text(), body, "{wanted}");
        assert_eq!(origin.last().field("x-upstream-result").as_deref(), Some(result), "{wanted}");
    };
    check("other", "other", &other, "Ok(())");
    check("main", "main", &main, "Ok(())");
    check("nowhere", "main", &main, "Err(Unknown)");
    check("", "main", &main, "Err(Unknown)");
    let lines = proxy.access_log(4);
    assert_eq!((&lines[0]["upstream"], &lines[1]["upstream"]), (&"other".into(), &"main".into()));
}

#[test]
fn a_plugin_of_the_log_phase_alone_sees_the_finished_request() {
    let origin = Origin::body("hello");
    let proxy = with_guest("log-only", &origin);
    let response = proxy.get("/seen").expect_status(200);
    assert_eq!(response.text(), "hello");
    let line = proxy.wait_for_log("log-only: path=/seen");
    for part in ["status=200", "sent=200", "upstream=main", "decided-by=-", "bytes=5", "timed=true"] {
        assert!(line.contains(part), "`{part}` in {line}");
    }
    // It took part in no other phase.
    let line = &proxy.access_log(1)[0];
    let phases: Vec<_> = line["plugins"]
        .as_array()
        .map(|calls| calls.iter().map(|c| c["phase"].clone()).collect())
        .unwrap_or_default();
    assert!(phases.iter().all(|phase| phase == "log-filter"), "{line}");
}

#[test]
fn what_plugins_log_cannot_break_a_line() {
    let origin = Origin::ok();
    let proxy = with_guest("headers", &origin);
    assert_eq!(proxy.ask(&get("/x").header("User-Agent", b"\xc2\x9b31mred\ttab\xff")).status, 200);
    let line = proxy.wait_for_log("user agent:");
    assert!(line.contains("headers"), "the plugin's name in {line}");
    assert!(!line.chars().any(char::is_control), "{}", line.escape_debug());
}
