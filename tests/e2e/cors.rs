//! The plugin `cors` in the real proxy, in front of one that checks who calls.

use edgewright_tests::{Ask, Origin, Proxy, Setup, ask, get, plugin};

const ALLOW_ORIGIN: &str = "access-control-allow-origin";

fn proxy(origin: &Origin) -> Proxy {
    Setup::new()
        .plugin("cors", &plugin("cors"), "isolation = \"reuse\"")
        .plugin("api-key", &plugin("api-key"), "isolation = \"reuse\"")
        .upstream("main", origin)
        .route_all(
            r#"[
                { name = "cors", config = { origins = ["https://app.test"], credentials = true, methods = ["GET", "PUT"], headers = ["authorization", "x-a"] } },
                { name = "api-key", config = { keys = [{ key = "alice-key-1", owner = "alice" }] } },
            ]"#,
            "main",
        )
        .start()
}

fn preflight(origin: &str) -> Ask {
    ask("OPTIONS", "/api")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "PUT")
        .header("Access-Control-Request-Headers", "authorization,x-a")
}

#[test]
fn case_26_a_preflight_passes_the_plugin_that_checks_who_calls() {
    let origin = Origin::ok();
    let proxy = proxy(&origin);

    let answer = proxy.ask(&preflight("https://app.test")).expect_status(204);
    assert_eq!(answer.field(ALLOW_ORIGIN).as_deref(), Some("https://app.test"));
    assert_eq!(answer.field("access-control-allow-credentials").as_deref(), Some("true"));
    assert_eq!(answer.field("access-control-allow-methods").as_deref(), Some("GET, PUT"));
    assert_eq!(answer.field("access-control-allow-headers").as_deref(), Some("authorization, x-a"));
    assert!(answer.head.all("vary").iter().any(|line| line.eq_ignore_ascii_case(b"origin")));

    let refused = proxy.ask(&get("/api").header("Origin", "https://app.test")).expect_status(401);
    assert_eq!(refused.field(ALLOW_ORIGIN).as_deref(), Some("https://app.test"));
    assert_eq!(refused.field("vary").as_deref(), Some("origin"));

    let plain = ask("OPTIONS", "/api").header("Origin", "https://app.test");
    assert_eq!(proxy.ask(&plain).status, 401);

    for other in ["https://evil.test", "null"] {
        let answer = proxy.ask(&preflight(other)).expect_status(403);
        assert_eq!(answer.field(ALLOW_ORIGIN), None, "{other}");
    }
    assert_eq!(origin.requests().len(), 0, "the upstream was asked");

    let passed =
        proxy.ask(&get("/api").header("Origin", "https://app.test").header("x-api-key", "alice-key-1"));
    assert_eq!((passed.status, passed.field(ALLOW_ORIGIN).as_deref()), (200, Some("https://app.test")));
}
