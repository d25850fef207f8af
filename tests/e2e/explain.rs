//! `explain` tells what the proxy does: the same request, explained and sent.

use edgewright_tests::{Connection, Origin, Proxy, Setup};
use serde_json::Value;

/// Routes by what the proxy takes out, makes or leaves, each with a path of its own.
fn setup(origin: &Origin) -> Setup {
    let mut setup = Setup::new()
        .server("owned-headers = [\"x-owned\"]")
        .upstream("main", origin)
        .route("beta", "match = { host = \"beta.test\" }", "main")
        .route("else", "", "main");
    for (name, header) in [
        ("underscore", "x_u = { present = true }"),
        ("owned", "x-owned = { present = true }"),
        ("https", "x-forwarded-proto = \"https\""),
        ("http", "x-forwarded-proto = \"http\""),
        ("for", "x-forwarded-for = \"127.0.0.1\""),
        ("kept", "x-k = \"1\""),
        ("connection", "connection = { present = true }"),
        ("te", "te = { present = true }"),
        ("own-id", "x-request-id = { prefix = \"mine\" }"),
        ("id", "x-request-id = { present = true }"),
        ("expect", "expect = { present = true }"),
    ] {
        setup =
            setup.route(name, &format!("match = {{ path = \"/{name}\", header = {{ {header} }} }}"), "main");
    }
    setup
}

fn explained(proxy: &Proxy, arguments: &[&str]) -> edgewright_tests::Finished {
    let arguments = [&["explain", "--json", "--config", "edgewright.toml"], arguments].concat();
    edgewright_tests::edgewright(&arguments, proxy.directory())
}

#[test]
fn a_request_takes_the_route_that_explain_says() {
    let origin = Origin::ok();
    let proxy = setup(&origin).start();
    let mut sent = 0;
    let mut check = |target: &str, lines: &[&str], route: &str| {
        let shown = format!("{target} {lines:?}");
        let mut client = Connection::open(proxy.address());
        let fields: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        client.send(format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n"));
        assert_eq!(client.response_to("GET").status, 200, "{shown}");
        sent += 1;
        assert_eq!(proxy.access_log(sent)[sent - 1]["route"], route, "{shown}: sent");

        let url = format!("http://a.test{target}");
        let mut arguments = vec!["GET", url.as_str()];
        lines.iter().for_each(|line| arguments.extend(["-H", line]));
        let finished = explained(&proxy, &arguments).expect_code(0);
        let told: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        assert_eq!(told["route"], route, "{shown}: explained\n{told:#}");
    };
    check("/underscore", &["X_U: 1"], "else");
    check("/owned", &["X-Owned: 1"], "else");
    check("/owned", &["X_Owned: 1"], "else");
    check("/https", &["X-Forwarded-Proto: https"], "else");
    check("/http", &["X-Forwarded-Proto: https"], "http");
    check("/http", &[], "http");
    check("/for", &["X-Forwarded-For: 1.2.3.4"], "for");
    check("/kept", &["X-K: 1"], "kept");
    check("/kept", &["X-K: 1", "Connection: x-k"], "else");
    check("/connection", &["Connection: close"], "else");
    check("/te", &["TE: gzip"], "else");
    check("/own-id", &["X-Request-Id: mine-0123456789"], "else");
    check("/id", &[], "id");
    check("/expect", &["Expect: 100-continue"], "expect");
    check("/a/../kept", &["X-K: 1"], "kept");
    check("/%6bept", &["X-K: 1"], "kept");
}

#[test]
fn explain_refuses_what_the_proxy_refuses() {
    let origin = Origin::ok();
    let proxy = setup(&origin).start();
    let check = |method: &str, target: &str, lines: &[&str], status: u16| {
        let shown = format!("{method} {target} {lines:?}");
        let mut client = Connection::open(proxy.address());
        let fields: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        client.send(format!("{method} {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n"));
        assert_eq!(client.response_to(method).status, status, "{shown}: sent");
        let url = format!("http://a.test{target}");
        let mut arguments = vec![method, url.as_str()];
        lines.iter().for_each(|line| arguments.extend(["-H", line]));
        let finished = explained(&proxy, &arguments).expect_code(1);
        assert!(finished.said().contains(&status.to_string()), "{shown}: {}", finished.said());
    };
    check("TRACE", "/x", &[], 405);
    check("GET", "/a%2f..%2fb%00", &[], 400);
    check("GET", "/x", &["Connection: host"], 400);
    check("GET", "/x", &["Connection: a, b, c, d, e, f, g, h, i, j, k"], 400);
    check("POST", "/x", &["Expect: tea"], 417);
    check("POST", "/x", &["Content-Length: +5"], 400);
    assert_eq!(origin.connections(), 0);
}

#[test]
fn a_url_without_a_host_is_a_request_of_http_1_0() {
    let origin = Origin::ok();
    let proxy = setup(&origin).start();
    let mut client = proxy.connect();
    client.send("GET /kept HTTP/1.0\r\nX-K: 1\r\n\r\n");
    assert_eq!(client.response_to("GET").status, 200);
    assert_eq!(proxy.access_log(1)[0]["route"], "kept");
    let finished = explained(&proxy, &["GET", "/kept", "-H", "X-K: 1"]).expect_code(0);
    let told: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(told["route"], "kept", "{told:#}");
}
