//! The shipped plugins in the real proxy.

use edgewright_tests::{Ask, Origin, Proxy, Setup, get, plugin};

pub(crate) fn shipped(name: &str, config: &str, origin: &Origin) -> Setup {
    let manifest = edgewright_tests::component::repository().join(format!("plugins/{name}/{name}.toml"));
    let manifest =
        std::fs::read_to_string(&manifest).unwrap_or_else(|e| panic!("`{}`: {e}", manifest.display()));
    Setup::new()
        .plugin(name, &plugin(name), &manifest)
        .upstream("main", origin)
        .route_all(&format!("[{{ name = \"{name}\", config = {config} }}]"), "main")
}

#[test]
fn api_key_lets_owners_in_and_says_who_they_are() {
    let origin = Origin::ok();
    let config = r#"{ realm = "door", keys = [{ key = "alice-key-1", owner = "alice" }, { key = "bobs-key-22", owner = "bob" }] }"#;
    let proxy = shipped("api-key", config, &origin)
        .access_log("path = \"stdout\"\nattributes = [\"api-key.owner\"]")
        .start();
    let denied = |request: Ask| {
        let before = origin.requests().len();
        let response = proxy.ask(&request);
        assert_eq!(response.status, 401, "{request:?}");
        let challenge = response.field("www-authenticate").expect("a challenge");
        assert!(challenge.contains("ApiKey") && challenge.contains("door"), "{challenge}");
        assert_eq!(origin.requests().len(), before, "{request:?}");
    };
    denied(get("/x"));
    denied(get("/x").header("X-Api-Key", ""));
    denied(get("/x").header("X-Api-Key", "wrong-key"));
    denied(get("/x").header("X-Api-Key", "alice-key-"));
    denied(get("/x").header("X-Api-Key", "alice-key-11"));
    denied(get("/x").header("X-Api-Key", b"alice-key-\xa1"));
    denied(get("/x").header("X-Api-Key", "alice-key-1").header("X-Api-Key", "alice-key-1"));
    let let_in = |key: &str, owner: &str| {
        assert_eq!(proxy.ask(&get("/x").header("X-Api-Key", key).header("X-Api-Owner", "root")).status, 200);
        let seen = origin.last();
        assert_eq!(seen.field("x-api-owner").as_deref(), Some(owner));
        assert!(!seen.head.has("x-api-key"), "the key is not passed on");
    };
    let_in("alice-key-1", "alice");
    let_in("bobs-key-22", "bob");
    let lines = proxy.access_log(9);
    assert!(lines.iter().take(7).all(|line| line["decided-by"] == "api-key"), "{lines:#?}");
    assert_eq!(lines[7]["attributes"]["api-key.owner"], "alice");
    assert_eq!(lines[8]["attributes"]["api-key.owner"], "bob");
    assert!(!proxy.stdout().contains("key-1") && !proxy.stderr().contains("key-1"), "a key in a log");
}

#[test]
fn case_03_a_rewrite_merges_its_query_with_the_clients() {
    let origin = Origin::ok();
    let config = r#"{ path = { regex = "^/([^/]+)/widgets(/.*)?$", to = "/w$2" }, query = { append = { brand = "$1" } } }"#;
    let proxy = shipped("rewrite", config, &origin).start();
    let check = |target: &str, expected: &str| {
        assert_eq!(proxy.get(target).status, 200, "{target}");
        assert_eq!(origin.last().target(), expected, "{target}");
    };
    check("/acme/widgets/7?color=red&x=%26", "/w/7?color=red&x=%26&brand=acme");
    check("/acme/widgets/7", "/w/7?brand=acme");
    check("/acme/widgets", "/w?brand=acme");
    check("/acme/widgets/7?", "/w/7?brand=acme");
    check("/acme/gadgets/7?a=b", "/acme/gadgets/7?a=b");
}

#[test]
fn rewrite_edits_headers_of_both_sides() {
    let origin = Origin::reply("HTTP/1.1 200 OK\r\nServer: old\r\nX-Gone: 1\r\nContent-Length: 2\r\n\r\nok");
    let config = r#"{ request = { set = { X-Set = "1" }, remove = ["x-secret"] }, response = { set = { SERVER = "edge" }, append = { vary = "origin" }, remove = ["x-gone"] } }"#;
    let proxy = shipped("rewrite", config, &origin).start();
    let response = proxy.ask(&get("/x").header("X-Set", "0").header("X-Secret", "s")).expect_status(200);
    let seen = origin.last();
    assert_eq!(seen.field("x-set").as_deref(), Some("1"));
    assert!(!seen.head.has("x-secret"));
    assert_eq!(response.field("server").as_deref(), Some("edge"));
    assert_eq!(response.field("vary").as_deref(), Some("origin"));
    assert!(!response.head.has("x-gone"));
}

struct Split {
    proxy: Proxy,
    main: Origin,
    canary: Origin,
}

fn split(config: &str) -> Split {
    let (main, canary) = (Origin::body("main"), Origin::body("canary"));
    let proxy = shipped("canary", config, &main).upstream("canary", &canary).start();
    Split { proxy, main, canary }
}

#[test]
fn canary_goes_by_header_then_cookie_then_percent() {
    let check = |percent: &str, header: Option<&str>, cookie: Option<&str>, expected: &str| {
        let split = split(&format!("{{ upstream = \"canary\", percent = {percent} }}"));
        let mut request = get("/x");
        if let Some(header) = header {
            request = request.header("X-Canary", header);
        }
        if let Some(cookie) = cookie {
            request = request.header("Cookie", format!("canary={cookie}"));
        }
        assert_eq!(split.proxy.ask(&request).text(), expected, "{percent} {header:?} {cookie:?}");
    };
    check("0", None, None, "main");
    check("100", None, None, "canary");
    check("0", Some("always"), None, "canary");
    check("100", Some("never"), None, "main");
    check("0", None, Some("always"), "canary");
    check("100", None, Some("never"), "main");
    check("0", Some("always"), Some("never"), "canary");
}

#[test]
fn canary_keeps_a_client_where_it_was() {
    let split = split("{ upstream = \"canary\", percent = 50, sticky = true }");
    let (mut to_main, mut to_canary) = (0, 0);
    for _ in 0..60 {
        let first = split.proxy.get("/x").expect_status(200);
        let cookie = first.field("set-cookie").expect("a cookie that keeps the choice");
        assert!(cookie.contains("Path=/") && cookie.contains("HttpOnly"), "{cookie}");
        let pair = cookie.split(';').next().unwrap().to_owned();
        for _ in 0..2 {
            let again = split.proxy.ask(&get("/x").header("Cookie", &pair));
            assert_eq!(again.text(), first.text(), "{pair}");
        }
        match first.text().as_str() {
            "main" => to_main += 1,
            _ => to_canary += 1,
        }
    }
    // Half of 60, give or take: less than one run in a million is outside.
    assert!(to_main > 10 && to_canary > 10, "{to_main} to main, {to_canary} to canary");
    assert_eq!(split.main.requests().len(), to_main * 3);
    assert_eq!(split.canary.requests().len(), to_canary * 3);
}
