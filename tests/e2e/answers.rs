//! Responses that the proxy or a plugin makes, and the phases that run on them.

use edgewright_tests::origin::nobody;
use edgewright_tests::{Origin, Setup, get, guest};

const MARKED: &str = "isolation = \"reuse\"";

#[test]
fn the_chain_runs_forward_on_requests_and_backward_on_responses() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), MARKED)
        .plugin("other", &guest("mark"), MARKED)
        .upstream("main", &origin)
        .route_all(
            r#"[{ name = "mark", config = { name = "1" } }, { name = "other", config = { name = "2" } }, { name = "mark", config = { name = "3" } }]"#,
            "main",
        )
        .start();
    let response = proxy.get("/x").expect_status(200);
    assert_eq!(origin.last().head.all("x-mark"), [b"1", b"2", b"3"]);
    assert_eq!(response.head.all("x-mark"), [b"3", b"2", b"1"]);
    assert_eq!(response.field("x-status-seen").as_deref(), Some("200"));
}

#[test]
fn one_plugin_has_a_configuration_for_each_route() {
    let origin = Origin::ok();
    let of = |name: &str| {
        format!(
            "match = {{ host = \"{name}.test\" }}\nplugins = [{{ name = \"mark\", config = {{ name = \"{name}\" }} }}]"
        )
    };
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"\nconfig = { name = \"default\" }")
        .upstream("main", &origin)
        .route("a", &of("a"), "main")
        .route("b", &of("b"), "main")
        .route("c", "match = { host = \"c.test\" }\nplugins = [\"mark\"]", "main")
        .start();
    for _ in 0..5 {
        for (host, mark) in [("a.test", "a"), ("b.test", "b"), ("c.test", "default")] {
            let response = proxy.ask(&get("/").host(host));
            assert_eq!(response.field("x-mark").as_deref(), Some(mark));
        }
    }
}

#[test]
fn response_phases_run_on_every_response_of_the_route() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), MARKED)
        .plugin("answer", &guest("answer"), MARKED)
        .plugin("trap", &guest("trap"), MARKED)
        .upstream("main", &origin)
        .peers("down", &[nobody()])
        .route(
            "plugin-made",
            "match = { host = \"answer.test\" }\nplugins = [{ name = \"mark\", config = { name = \"m\" } }, { name = \"answer\", config = { status = 403, body = \"no\", headers = [[\"x-own\", \"1\"]] } }]",
            "main",
        )
        .route(
            "down",
            "match = { host = \"down.test\" }\nplugins = [{ name = \"mark\", config = { name = \"m\" } }]",
            "down",
        )
        .route(
            "trapped",
            "match = { host = \"trap.test\" }\nplugins = [{ name = \"mark\", config = { name = \"m\" } }, \"trap\"]",
            "main",
        )
        .start();
    let check = |host: &str, status: u16| {
        let response = proxy.ask(&get("/").host(host).header("X-Boom", "1"));
        assert_eq!(response.status, status, "{host}");
        assert_eq!(response.field("x-mark").as_deref(), Some("m"), "{host}");
        assert_eq!(response.field("x-status-seen"), Some(status.to_string()), "{host}");
        response
    };
    let answer = check("answer.test", 403);
    assert_eq!((answer.text().as_str(), answer.field("x-own").as_deref()), ("no", Some("1")));
    check("down.test", 502);
    check("trap.test", 503);
    assert!(origin.requests().is_empty());
}

#[test]
fn a_plugin_may_replace_the_response_of_the_upstream() {
    let origin = Origin::body("a body that nobody gets");
    let config = "{ status = 404, body = \"gone\", phase = \"response\", when = \"x-hide\" }";
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), MARKED)
        .plugin("answer", &guest("answer"), MARKED)
        .upstream("main", &origin)
        .route_all(
            &format!(r#"[{{ name = "mark", config = {{ name = "m" }} }}, {{ name = "answer", config = {config} }}]"#),
            "main",
        )
        .start();
    for _ in 0..3 {
        let hidden = proxy.ask(&get("/x").header("X-Hide", "1"));
        assert_eq!((hidden.status, hidden.text().as_str()), (404, "gone"));
        assert_eq!(
            hidden.field("x-status-seen").as_deref(),
            Some("404"),
            "the rest of the chain sees the new one"
        );
        let open = proxy.get("/x");
        assert_eq!((open.status, open.text().as_str()), (200, "a body that nobody gets"));
    }
}

#[test]
fn p10_an_answer_that_breaks_the_contract_is_a_500() {
    let check = |config: &str| {
        let origin = Origin::ok();
        let proxy = Setup::new()
            .plugin("answer", &guest("answer"), "limits = { time = \"1s\" }")
            .upstream("main", &origin)
            .route_all(&format!("[{{ name = \"answer\", config = {config} }}]"), "main")
            .start();
        let response = proxy.get("/x");
        assert_eq!(response.status, 500, "{config}");
        assert!(!response.text().contains("half made"), "{config}");
        assert!(!response.head.has("x-own"), "{config}");
        let line = &proxy.access_log(1)[0];
        assert_eq!(
            (&line["decided-by"], &line["error"]),
            (&"answer".into(), &"bad-response".into()),
            "{config}"
        );
    };
    let with = |name: &str, value: &str| {
        format!(
            "{{ status = 200, body = \"half made\", headers = [[\"x-own\", \"1\"], [\"{name}\", \"{value}\"]] }}"
        )
    };
    check(r#"{ status = 99, body = "half made" }"#);
    check(r#"{ status = 101, body = "half made" }"#);
    check(r#"{ status = 600, body = "half made" }"#);
    check(r#"{ status = 0, body = "half made" }"#);
    check(&with("content-length", "3"));
    check(&with("Transfer-Encoding", "chunked"));
    check(&with("connection", "close"));
    check(&with("x y", "1"));
    check(&with("", "1"));
    check(&with("x-split", r"1\r\nx-more: 2"));
    check("{ status = 200, body-bytes = 1048577 }");
}

#[test]
fn keep_alive_survives_answers_of_plugins() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("answer", &guest("answer"), MARKED)
        .upstream("main", &origin)
        .route_all(
            r#"[{ name = "answer", config = { status = 401, body = "no", when = "x-deny" } }]"#,
            "main",
        )
        .start();
    let mut client = proxy.connect();
    for _ in 0..10 {
        assert_eq!(client.ask(&get("/x").header("X-Deny", "1")).text(), "no");
        assert_eq!(client.ask(&get("/x")).text(), "ok");
    }
}
