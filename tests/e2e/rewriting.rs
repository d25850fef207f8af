//! What routes change without a plugin: paths, queries, fields and the host.

use edgewright_tests::{Origin, Proxy, Setup, ask, get, guest};

fn with(inside: &str, origin: &Origin) -> Proxy {
    Setup::new().upstream("main", origin).route("all", inside, "main").start()
}

#[test]
fn case_03_a_rewrite_merges_its_query_with_the_clients() {
    let origin = Origin::ok();
    let proxy = with(
        r#"path = { rewrite = { pattern = "^/([^/]+)/widgets(/.*)?$", to = "/w$2?brand=$1" } }"#,
        &origin,
    );
    let check = |asked: &str, sent: &str| {
        proxy.get(asked).expect_status(200);
        assert_eq!(origin.last().target(), sent, "{asked}");
    };
    check("/acme/widgets/7?color=red&x=%26", "/w/7?color=red&x=%26&brand=acme");
    check("/acme/widgets/7", "/w/7?brand=acme");
    check("/acme/widgets", "/w?brand=acme");
    check("/acme/widgets/7?", "/w/7?brand=acme");
    check("/other?a&&b", "/other?a&&b");
    // The log has what the client asked for.
    assert_eq!(proxy.access_log(5)[0]["target"], "/acme/widgets/7?color=red&x=%26");
}

#[test]
fn prefixes_and_parameters_are_changed_on_the_attempt_alone() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("headers", &guest("headers"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route(
            "all",
            "plugins = [\"headers\"]\npath = { strip-prefix = \"/api\", add-prefix = \"/v2\" }\n\
             query = { remove = [\"utm_source\"], set = { from = \"{client-address}\" }, append = { tag = [\"a b\", \"{host}\"] } }",
            "main",
        )
        .start();
    let check = |asked: &str, sent: &str, seen: &str| {
        proxy.get(asked).expect_status(200);
        let request = origin.last();
        assert_eq!(request.target(), sent, "{asked}");
        assert_eq!(request.field("x-path").as_deref(), Some(seen), "{asked}: what a plugin saw");
    };
    let added = "from=127.0.0.1&tag=a%20b&tag=a.test";
    check("/api/x?b=2&utm_source=y&from=me", &format!("/v2/x?b=2&{added}"), "/api/x");
    check("/api", &format!("/v2/?{added}"), "/api");
    check("/apis/x", &format!("/v2/apis/x?{added}"), "/apis/x");
    check("/api/../api/%7e", &format!("/v2/~?{added}"), "/api/~");
    // What has no path is left as it is.
    proxy.ask(&ask("OPTIONS", "*")).expect_status(200);
    assert_eq!(origin.last().target(), "*");
}

#[test]
fn c25_an_edited_path_never_leaves_its_prefix() {
    let origin = Origin::ok();
    let proxy = with(r#"path = { rewrite = { pattern = "^/x(.*)$", to = "/safe/$1" } }"#, &origin);
    let refused = |asked: &str| {
        let before = origin.requests().len();
        assert_eq!(proxy.get(asked).status, 400, "{asked}");
        assert_eq!(origin.requests().len(), before, "{asked}");
    };
    refused("/x../secret");
    refused("/x%2e%2e/secret");
    refused("/x..%2fsecret");
    refused("/x..;/secret");
    refused("/x./secret");
    let check = |asked: &str, sent: &str| {
        proxy.get(asked).expect_status(200);
        assert_eq!(origin.last().target(), sent, "{asked}");
    };
    check("/x/y", "/safe/y");
    check("/x..y", "/safe/..y");
    check("/a/../x/b", "/safe/b");
    check("/a/../y", "/y");
}

/// The table of `docs/paths.md`.
#[test]
fn c27_encoded_separators_have_one_reading() {
    let origin = Origin::ok();
    let proxy = with("", &origin);
    let check = |asked: &str, expected: Option<&str>| {
        let before = origin.requests().len();
        let status = proxy.get(asked).status;
        match expected {
            Some(sent) => assert_eq!((status, origin.last().target().as_str()), (200, sent), "{asked}"),
            None => assert_eq!((status, origin.requests().len()), (400, before), "{asked}"),
        }
    };
    let row = |escape: &str, name: Option<&str>, beside_dots: Option<&str>| {
        check(&format!("/a{escape}b"), name);
        check(&format!("/a/..{escape}b"), beside_dots);
        let twice = format!("/a%25{}b", escape.trim_start_matches('%'));
        check(&twice, Some(&twice));
    };
    row("%2e", Some("/a.b"), Some("/a/...b"));
    row("%2f", Some("/a%2Fb"), None);
    row("%5c", Some("/a%5Cb"), None);
    row("%00", None, None);
    row("%3b", Some("/a%3Bb"), None);
    row("%25", Some("/a%25b"), Some("/a/..%25b"));
    row("%3f", Some("/a%3Fb"), Some("/a/..%3Fb"));
    row("%23", Some("/a%23b"), Some("/a/..%23b"));
}

#[test]
fn c25_a_denied_prefix_is_denied_in_every_spelling() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .upstream("main", &origin)
        .config("[[routes]]\nname = \"admin\"\nmatch = { path = \"/admin/*\" }\nrespond = { status = 403 }")
        .route("all", "", "main")
        .start();
    for target in [
        "/admin",
        "/api/../admin",
        "/api/%2e%2e/admin",
        "//admin",
        "/./admin",
        "/%61dmin",
        "/api%2f..%2fadmin",
        "/api/..;/admin",
        "/api\\..\\admin",
        "/admin%00",
    ] {
        let status = proxy.get(target).status;
        assert!(matches!(status, 400 | 403), "{target}: {status}");
    }
    assert_eq!(origin.connections(), 0);
    // Other paths, and the same ones for router, log and upstream.
    for (target, sent) in [("/api%2e%2e/admin", "/api../admin"), ("/api..;/admin", "/api..;/admin")] {
        proxy.get(target).expect_status(200);
        assert_eq!(origin.last().target(), sent, "{target}");
    }
}

#[test]
fn c23_names_with_an_underscore_never_reach_the_upstream() {
    let origin = Origin::ok();
    let proxy = with("", &origin);
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nX_Forwarded_For: 9.9.9.9\r\nX_Other: 1\r\n\r\n");
    assert_eq!(client.response_to("GET").status, 200);
    let seen = origin.last();
    assert_eq!(seen.field("x-forwarded-for").as_deref(), Some("127.0.0.1"));
    assert!(seen.head.names().iter().all(|name| !name.contains('_')), "{:?}", seen.head);
    // A space before the colon is no part of a name (RFC 9112, section 5.1).
    let before = origin.requests().len();
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For : 9.9.9.9\r\n\r\n");
    let status = client.response_to("GET").status;
    let spoofed = origin
        .requests()
        .split_off(before)
        .iter()
        .any(|seen| seen.head.fields.iter().any(|(_, value)| value == b"9.9.9.9"));
    assert!(!spoofed, "answered {status}");
}

#[test]
fn fields_are_removed_set_and_appended_on_both_sides() {
    let origin = Origin::reply(
        "HTTP/1.1 200 OK\r\nServer: origin\r\nX-Old: 1\r\nX-Old: 2\r\nVary: a\r\nContent-Length: 2\r\n\r\nok",
    );
    let proxy = with(
        "request-headers = { remove = [\"x-debug\"], set = { x-client = \"{client-address}\", x-route = \"{route} of {host}\", \
         x-two = [\"1\", \"2\"] }, append = { x-more = \"m\" } }\n\
         response-headers = { remove = [\"server\"], set = { x-old = \"new\", x-id = \"{request-id}\", x-up = \"{upstream}\" }, \
         append = { vary = \"b\" } }",
        &origin,
    );
    let request = get("/x")
        .header("X-Debug", "1")
        .header("X-Client", "forged")
        .header("X-Client", "twice")
        .header("X-More", "l");
    let response = proxy.ask(&request).expect_status(200);
    let seen = origin.last();
    assert!(!seen.head.has("x-debug"), "{:?}", seen.head);
    assert_eq!(seen.field("x-client").as_deref(), Some("127.0.0.1"));
    assert_eq!(seen.field("x-route").as_deref(), Some("all of a.test"));
    assert_eq!(seen.head.all("x-two"), [b"1", b"2"]);
    assert_eq!(seen.head.all("x-more"), [b"l", b"m"]);
    assert!(!response.head.has("server"), "{:?}", response.head);
    assert_eq!(response.field("x-old").as_deref(), Some("new"));
    assert_eq!(response.field("x-up").as_deref(), Some("main"));
    assert_eq!(response.head.all("vary"), [b"a", b"b"]);
    assert_eq!(response.field("x-id"), seen.field("x-request-id"));
    assert_eq!(response.field("content-length").as_deref(), Some("2"));
}

#[test]
fn responses_that_the_proxy_makes_are_edited_too() {
    let proxy = Setup::new()
        .peers("main", &[edgewright_tests::origin::nobody()])
        .route(
            "all",
            "response-headers = { set = { x-frame-options = \"DENY\" }, remove = [\"cache-control\"] }",
            "main",
        )
        .start();
    let response = proxy.get("/x").expect_status(502);
    assert_eq!(response.field("x-frame-options").as_deref(), Some("DENY"));
    assert!(!response.head.has("cache-control"), "{:?}", response.head);
}

#[test]
fn the_host_is_the_clients_or_the_one_that_is_written() {
    let origin = Origin::ok();
    let port = origin.address().port();
    let proxy = Setup::new()
        .with_h2()
        .upstream("main", &origin)
        .route("named", "match = { path = \"/named\" }\nhost = \"API.internal:8080\"", "main")
        .config(&format!("[upstreams.local]\npeers = [\"localhost:{port}\"]"))
        .route("peer", "match = { path = \"/peer\" }\nhost = \"upstream\"", "local")
        .route("kept", "host = \"preserve\"", "main")
        .start();
    let check = |asked: &str, host: &str, forwarded: Option<&str>| {
        proxy.ask(&get(asked).host("a.test:81")).expect_status(200);
        let seen = origin.last();
        assert_eq!(seen.field("host").as_deref(), Some(host), "{asked}");
        assert_eq!(seen.field("x-forwarded-host").as_deref(), forwarded, "{asked}");
    };
    check("/named", "api.internal:8080", Some("a.test:81"));
    check("/peer", &format!("localhost:{port}"), Some("a.test:81"));
    check("/kept", "a.test:81", None);
    assert_eq!(edgewright_tests::h2c::get(proxy.address(), "/named", &[]).status, 200);
    assert_eq!(origin.last().field("host").as_deref(), Some("api.internal:8080"));
}

#[test]
fn explain_tells_what_would_be_changed() {
    let origin = Origin::ok();
    let setup = Setup::new()
        .upstream("main", &origin)
        .route(
            "api",
            "match = { path = \"/api/*\" }\npath = { strip-prefix = \"/api\" }\nhost = \"b.test\"\n\
             request-headers = { set = { x-route = \"{route}\" } }\nresponse-headers = { remove = [\"server\"] }",
            "main",
        )
        .config("[[routes]]\nname = \"old\"\nmatch = { path = \"/old\" }\nredirect = { scheme = \"https\" }")
        .config("[[routes]]\nname = \"ping\"\nmatch = { path = \"/ping\" }\nrespond = { body = \"pong\" }");
    let told = |url: &str| {
        let url = format!("http://a.test{url}");
        setup.command(&["explain", "GET", &url]).expect_code(0).stdout
    };
    let api = told("/api/x?a=1");
    for line in [
        "target: /x?a=1",
        "host: the upstream is sent `b.test`",
        "request: `x-route` is set to `{route}`",
        "response: `server` is removed",
    ] {
        assert!(api.lines().any(|told| told == line), "{line} in {api}");
    }
    let old = told("/old?q");
    assert!(old.contains("redirect: 302 to https://{host}{path}{query}, here https://a.test/old?q"), "{old}");
    let ping = told("/ping");
    assert!(ping.contains("response: a fixed 200"), "{ping}");
    let json = setup.command(&["explain", "--json", "GET", "http://a.test/api/x"]).expect_code(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["route"], &json["target"]), (&"api".into(), &"/x".into()), "{json}");
    assert_eq!(json["upstreams"][0]["name"], "main", "{json}");
}
