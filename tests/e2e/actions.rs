//! Routes that answer by themselves: redirects and fixed responses.

use edgewright_tests::{Origin, Setup, ask, get, guest};

/// Routes by the first segment of their path.
fn with(setup: Setup, routes: &[(&str, &str)]) -> Setup {
    routes.iter().fold(setup, |setup, (name, inside)| {
        setup.config(&format!("[[routes]]\nname = \"{name}\"\nmatch = {{ path = \"/{name}/*\" }}\n{inside}"))
    })
}

#[test]
fn redirects_lead_where_they_say() {
    let origin = Origin::ok();
    let routes = [
        ("to", r#"redirect = { to = "https://{host}{path}{query}", status = 308 }"#),
        ("scheme", r#"redirect = { scheme = "https" }"#),
        ("host", r#"redirect = { host = "b.test:8443", status = 301 }"#),
        ("path", r#"redirect = { path = "/new{path}", status = 303 }"#),
        ("fixed", r#"redirect = { path = "/here?x=1", status = 307 }"#),
        ("all", r#"redirect = { to = "{scheme}://{authority}/r/{route}{path}" }"#),
        (
            "edited",
            "path = { strip-prefix = \"/edited\", add-prefix = \"/v2\" }\nquery = { remove = [\"a\"] }\n\
             redirect = { host = \"b.test\" }",
        ),
    ];
    let proxy = with(Setup::new().upstream("main", &origin), &routes).start();
    let mut client = proxy.connect();
    let mut check = |target: &str, status: u16, location: &str| {
        let response = client.ask(&get(target).host("A.test:8080"));
        assert_eq!(response.status, status, "{target}");
        assert_eq!(response.field("location").as_deref(), Some(location), "{target}");
        assert_eq!(response.text(), "", "{target}");
    };
    check("/to/x?a=%2F&b", 308, "https://a.test/to/x?a=%2F&b");
    check("/to", 308, "https://a.test/to");
    check("/to/./%7ex//y?", 308, "https://a.test/to/~x/y?");
    check("/scheme/x?q", 302, "https://a.test/scheme/x?q");
    check("/host/x?q", 301, "http://b.test:8443/host/x?q");
    check("/path/x?q", 303, "/new/path/x?q");
    check("/fixed/x?q", 307, "/here?x=1");
    check("/all/x?q", 302, "http://a.test:8080/r/all/all/x");
    check("/edited/x?a=1&b=2", 302, "http://b.test/v2/x?b=2");
    assert_eq!(client.ask(&ask("HEAD", "/to/x")).status, 308);
    let response = proxy.ask(&ask("POST", "/to/x").body("hello"));
    assert_eq!((response.status, response.field("location").as_deref()), (308, Some("https://a.test/to/x")));
    drop(client);
    assert_eq!(origin.connections(), 0);
    // Where there is no host, there is no URL.
    let mut old = proxy.connect();
    old.send("GET /to/x HTTP/1.0\r\n\r\n");
    assert_eq!(old.response_to("GET").status, 400);
    let line = proxy.access_log(12).pop().unwrap();
    assert_eq!((&line["error"], &line["route"]), (&"bad-request".into(), &"to".into()), "{line}");
}

#[test]
fn fixed_responses_are_as_written() {
    let setup = Setup::new();
    std::fs::write(setup.directory().join("down.html"), "<p>down</p>").unwrap();
    let routes = [
        ("ok", r#"respond = { body = "ok\n" }"#),
        ("empty", "respond = { status = 204 }"),
        (
            "page",
            r#"respond = { status = 503, file = "down.html", headers = { retry-after = "60", x-a = ["1", "2"] } }"#,
        ),
        ("json", r#"respond = { body = "{}", headers = { content-type = "application/json" } }"#),
        ("gone", "respond = { status = 410 }"),
    ];
    let proxy = with(setup.peers("main", &[edgewright_tests::origin::nobody()]), &routes).start();
    let mut client = proxy.connect();
    let mut check = |target: &str, status: u16, kind: Option<&str>, body: &str| {
        for method in ["GET", "HEAD", "POST"] {
            let mut request = ask(method, target);
            if method == "POST" {
                request = request.body("12345");
            }
            // A body that nobody reads ends its connection.
            let response = if method == "POST" { proxy.ask(&request) } else { client.ask(&request) };
            assert_eq!(response.status, status, "{method} {target}");
            assert_eq!(response.field("content-type").as_deref(), kind, "{method} {target}");
            let expected = if method == "HEAD" { "" } else { body };
            assert_eq!(response.text(), expected, "{method} {target}");
        }
    };
    check("/ok/x", 200, Some("text/plain; charset=utf-8"), "ok\n");
    check("/empty", 204, None, "");
    check("/page", 503, Some("text/html; charset=utf-8"), "<p>down</p>");
    check("/json", 200, Some("application/json"), "{}");
    check("/gone", 410, None, "");
    let page = proxy.get("/page");
    assert_eq!(page.head.all("x-a"), [b"1", b"2"]);
    assert_eq!(page.field("retry-after").as_deref(), Some("60"));
    let line = proxy.access_log(16).pop().unwrap();
    assert_eq!((&line["route"], &line["status"]), (&"page".into(), &503.into()), "{line}");
    assert_eq!(line["upstream"], serde_json::Value::Null, "{line}");
    assert_eq!(line["error"], serde_json::Value::Null, "no failure: {line}");
}

#[test]
fn plugins_come_before_what_the_route_does_itself() {
    let origin = Origin::ok();
    let setup = Setup::new()
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .plugin("upstream", &guest("upstream"), "")
        .upstream("main", &origin);
    let routes = [
        (
            "guarded",
            "plugins = [{ name = \"answer\", config = { status = 401, when = \"x-deny\" } }]\n\
             respond = { body = \"in\" }\nresponse-headers = { set = { x-edited = \"1\" } }",
        ),
        ("chosen", "plugins = [\"upstream\"]\nredirect = { to = \"/elsewhere\" }"),
    ];
    let proxy = with(setup, &routes).start();
    assert_eq!(proxy.get("/guarded/x").expect_status(200).text(), "in");
    let refused = proxy.ask(&get("/guarded/x").header("X-Deny", "1")).expect_status(401);
    assert_eq!(refused.field("x-edited").as_deref(), Some("1"));
    // A plugin that chooses an upstream has decided.
    assert_eq!(proxy.get("/chosen/x").status, 302);
    assert_eq!(proxy.ask(&get("/chosen/x").header("X-Upstream", "main")).expect_status(200).text(), "ok");
}
