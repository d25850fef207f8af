//! Header fields on their way through: what stops at the proxy, what is kept, what is made anew.

use edgewright_tests::{Origin, Setup, get, guest, h2c, plugin};

/// Connection-level fields of an answer, and one that is not.
const HOP_BY_HOP: &str = "HTTP/1.1 200 OK\r\nConnection: X-Foo, keep-alive\r\nX-Foo: 1\r\nKeep-Alive: timeout=5\r\n\
    Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nX-Bar: 2\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn case_06_hop_by_hop_fields_of_a_response_stop_at_the_proxy() {
    let origin = Origin::reply(HOP_BY_HOP);
    let proxy = Setup::new().with_h2().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    for _ in 0..2 {
        let response = client.ask(&get("/x"));
        assert_eq!((response.status, response.text().as_str()), (200, "ok"));
        assert_eq!(response.field("x-bar").as_deref(), Some("2"));
        for name in ["x-foo", "keep-alive", "proxy-connection", "upgrade"] {
            assert!(!response.head.has(name), "{name} in {:?}", response.head);
        }
        // What it says of the connection is true: the second request goes over it.
        assert!(response.field("connection").is_none_or(|value| value.eq_ignore_ascii_case("keep-alive")));
    }
    let response = h2c::get(proxy.address(), "/x", &[]);
    assert_eq!(response.all("x-bar"), [b"2"]);
    for name in ["connection", "x-foo", "keep-alive", "proxy-connection", "upgrade"] {
        assert!(response.all(name).is_empty(), "{name} in {:?}", response.fields);
    }
}

#[test]
fn hop_by_hop_fields_of_a_request_stop_at_the_proxy() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("headers", &guest("headers"), "")
        .upstream("main", &origin)
        .route_all(r#"["headers"]"#, "main")
        .start();
    let request = get("/x")
        .header("Connection", "X-Foo, keep-alive")
        .header("X-Foo", "1")
        .header("Keep-Alive", "timeout=5")
        .header("Proxy-Connection", "keep-alive")
        .header("TE", "gzip")
        .header("X-Bar", "2");
    assert_eq!(proxy.ask(&request).status, 200);
    let seen = origin.last();
    assert_eq!(seen.field("x-bar").as_deref(), Some("2"));
    for name in ["x-foo", "keep-alive", "proxy-connection", "te"] {
        assert!(!seen.head.has(name), "{name} in {:?}", seen.head);
        let names = seen.field("x-names").unwrap();
        assert!(names.split(',').all(|seen| seen != name), "a plugin saw {name}: {names}");
    }
}

#[test]
fn what_a_plugin_sets_survives_what_a_client_nominates() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "kept" } }]"#, "main")
        .start();
    let request = get("/x").header("Connection", "close, X-Mark").header("X-Mark", "forged");
    assert_eq!(proxy.ask(&request).status, 200);
    assert_eq!(origin.last().head.all("x-mark"), [b"kept"]);
}

#[test]
fn case_27_identity_and_forwarding_fields_cannot_be_smuggled_in() {
    let origin = Origin::ok();
    let api_key = r#"plugins = ["headers", { name = "api-key", config = { keys = [{ key = "good-token-1", owner = "alice" }], owner-header = "x-user" } }]"#;
    let proxy = Setup::new()
        .server("owned-headers = [\"x-user\"]")
        .plugin("api-key", &plugin("api-key"), "isolation = \"reuse\"")
        .plugin("headers", &guest("headers"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route("api", &format!("match = {{ path = \"/api/*\" }}\n{api_key}"), "main")
        .route("anonymous", "match = { path = \"/*\" }\nplugins = [\"headers\"]", "main")
        .start();
    let forged = |target: &str| {
        get(target)
            .header("X-User", "root")
            .header("X-User", "root")
            .header("x-user", "root")
            .header("X_User", "root")
            .header("Forwarded", "for=1.2.3.4;proto=https")
            .header("X-Forwarded-For", "1.2.3.4")
            .header("X-Forwarded-Proto", "https")
            .header("X_Forwarded_Proto", "https")
            .header("X-Forwarded-Prefix", "/admin")
            .header("X-Real-Ip", "1.2.3.4")
    };
    let identities = |names: Vec<&str>| -> usize {
        names.iter().filter(|name| name.replace('_', "-") == "x-user").count()
    };
    let check = |target: &str, user: Option<&str>| {
        let request = forged(target).header("X-Api-Key", "good-token-1");
        assert_eq!(proxy.ask(&request).status, 200, "{target}");
        let seen = origin.last();
        assert_eq!(seen.field("x-user").as_deref(), user, "{target}");
        assert_eq!(identities(seen.head.names()), usize::from(user.is_some()), "{target}: {:?}", seen.head);
        // Made anew from what the proxy knows.
        assert_eq!(seen.field("x-forwarded-for").as_deref(), Some("127.0.0.1"), "{target}");
        assert_eq!(seen.field("x-forwarded-proto").as_deref(), Some("http"), "{target}");
        for name in ["forwarded", "x-forwarded-prefix", "x_forwarded_proto", "x-real-ip"] {
            assert!(!seen.head.has(name), "{target}: {name}");
        }
        // A plugin sees none of it either.
        let names = seen.field("x-names").unwrap();
        let names: Vec<&str> = names.split(',').collect();
        assert_eq!(identities(names.clone()), 0, "{target}: {names:?}");
        for name in ["forwarded", "x-forwarded-prefix", "x_forwarded_proto", "x-real-ip"] {
            assert!(!names.contains(&name), "{target}: a plugin saw {name}");
        }
    };
    check("/api/x", Some("alice"));
    check("/open", None);
}

#[test]
fn a_trusted_proxy_is_believed() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("trusted-proxies = [\"127.0.0.0/8\"]")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let request = get("/x").header("X-Forwarded-For", "1.2.3.4").header("X-Forwarded-Proto", "https");
    assert_eq!(proxy.ask(&request).status, 200);
    let seen = origin.last();
    assert_eq!(seen.field("x-forwarded-for").as_deref(), Some("1.2.3.4, 127.0.0.1"));
    assert_eq!(seen.field("x-forwarded-proto").as_deref(), Some("https"));
    assert_eq!(proxy.access_log(1)[0]["client"], "1.2.3.4");
}

#[test]
fn case_23_header_bytes_outside_utf_8_reach_everybody_unchanged() {
    let origin = Origin::reply(
        b"HTTP/1.1 200 OK\r\nX-Latin: caf\xe9 \xa1\xb1\r\nX-Ok: 2\r\nContent-Length: 2\r\n\r\nok",
    );
    let proxy = Setup::new()
        .server("trusted-proxies = [\"127.0.0.1\"]")
        .plugin("headers", &guest("headers"), "")
        .upstream("main", &origin)
        .route_all(r#"["headers"]"#, "main")
        .start();
    let request = get("/x")
        .header("User-Agent", b"Mozilla/5.0 (\xa1\xb1)")
        .header("X-Forwarded-For", b"1 \xc0\xa7\xc0\xa2")
        .header("X-Ok", "1");
    let response = proxy.ask(&request).expect_status(200);
    let seen = origin.last();
    assert_eq!(seen.head.all("user-agent"), [b"Mozilla/5.0 (\xa1\xb1)"]);
    assert!(seen.head.all("x-forwarded-for")[0].starts_with(b"1 \xc0\xa7\xc0\xa2"), "{:?}", seen.head);
    assert_eq!(seen.field("x-copy").as_deref(), Some("1"));
    assert_eq!(response.head.all("x-latin"), [b"caf\xe9 \xa1\xb1"]);
    assert_eq!(response.field("x-copy").as_deref(), Some("2"));
    let line = &proxy.access_log(1)[0];
    assert_eq!(line["user-agent"], "Mozilla/5.0 (\\xa1\\xb1)");
    proxy.wait_for_log("user agent: Mozilla/5.0");
}

#[test]
fn every_request_has_an_id_that_all_sides_know() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    assert_eq!(proxy.ask(&get("/x").header("X-Request-Id", "mine")).status, 200);
    let id = origin.last().field("x-request-id").expect("an id");
    assert_eq!(id.len(), 32, "{id}");
    assert!(id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    assert_eq!(proxy.access_log(1)[0]["request-id"], id.as_str());
}

#[test]
fn an_id_in_another_spelling_never_reaches_the_upstream() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("underscore-headers = \"keep\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let request =
        get("/x").header("X_Request_Id", "mine").header("X_Request-Id", "mine").header("X_Kept", "1");
    assert_eq!(proxy.ask(&request).status, 200);
    let seen = origin.last();
    assert_eq!(seen.field("x_kept").as_deref(), Some("1"));
    let ids: Vec<_> =
        seen.head.names().into_iter().filter(|n| n.replace('_', "-") == "x-request-id").collect();
    assert_eq!(ids, ["x-request-id"], "{:?}", seen.head);
}

#[test]
fn more_header_lines_than_the_limit_are_refused_before_any_plugin() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "m" } }]"#, "main")
        .start();
    let check = |lines: usize, status: u16| {
        // `Host` is one, too.
        let request = (1..lines).fold(get("/x"), |request, at| request.header(format!("X-{at}"), "1"));
        assert_eq!(proxy.ask(&request).status, status, "{lines} lines");
    };
    check(100, 200);
    check(101, 431);
    check(150, 431);
    let lines = proxy.access_log(3);
    let refused: Vec<_> = lines.iter().filter(|line| line["status"] == 431).collect();
    assert_eq!(refused.len(), 2, "{lines:#?}");
    for line in refused {
        assert_eq!(line["error"], "headers-too-large", "{line}");
        assert!(line["plugins"].as_array().is_none_or(Vec::is_empty), "{line}");
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_request_without_a_trace_begins_one_where_that_is_asked_for() {
    let origin = Origin::ok();
    let setup = || Setup::new().upstream("main", &origin).route("default", "", "main");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let making = setup().server(r#"trace-context = "make""#).start();
    assert_eq!(making.ask(&get("/x").header("traceparent", parent)).status, 200);
    assert_eq!(origin.last().field("traceparent").as_deref(), Some(parent));
    assert_eq!(making.get("/x").status, 200);
    let made = origin.last().field("traceparent").unwrap();
    assert!(made.len() == parent.len() && made.starts_with("00-") && made.ends_with("-01"), "{made}");
    let passing = setup().start();
    assert_eq!(passing.get("/x").status, 200);
    assert!(!origin.last().head.has("traceparent"));
}

/// RFC 7239, section 4.
#[test]
fn a_chain_that_a_trusted_proxy_tells_goes_on() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server(r#"trusted-proxies = ["127.0.0.1"]"#)
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    assert_eq!(proxy.ask(&get("/x").header("Forwarded", "for=192.0.2.1;proto=https")).status, 200);
    let told = origin.last().head.all("forwarded").join(b", ".as_slice());
    assert_eq!(told, b"for=192.0.2.1;proto=https, for=127.0.0.1;proto=http");
    assert_eq!(proxy.get("/x").status, 200);
    assert!(!origin.last().head.has("forwarded"));
}

#[test]
fn rfc_9110_via_tells_of_the_proxy_where_that_is_wanted() {
    let origin = Origin::reply("HTTP/1.1 200 OK\r\nVia: 1.0 cache\r\nContent-Length: 2\r\n\r\nok");
    let silent = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let asked = get("/x").header("Via", "1.0 other");
    let via = |head: &edgewright_tests::message::Head| -> Vec<String> {
        head.all("via").iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    assert_eq!(via(&silent.ask(&asked).head), ["1.0 cache"]);
    assert_eq!(via(&origin.last().head), ["1.0 other"]);
    let telling =
        Setup::new().server("via = true").upstream("main", &origin).route("default", "", "main").start();
    assert_eq!(via(&telling.ask(&asked).head), ["1.0 cache", "1.1 edgewright"]);
    assert_eq!(via(&origin.last().head), ["1.0 other", "1.1 edgewright"]);
}
