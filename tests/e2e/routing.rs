//! Which route a request takes: paths, cookies, and the rest of what a match can ask.

use edgewright_tests::{Origin, Setup, ask, get, guest, h2c};

/// A plugin that lets nobody in.
const DENY: &str = r#"plugins = [{ name = "answer", config = { status = 401 } }]"#;

#[test]
fn case_02_no_spelling_of_a_path_steps_around_a_protected_prefix() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .plugin("headers", &guest("headers"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route("admin", &format!("match = {{ path = \"/admin/*\" }}\n{DENY}"), "main")
        .route("open", "match = { path = \"/*\" }\nplugins = [\"headers\"]", "main")
        .start();
    let protected = |target: &str| {
        let response = proxy.get(target);
        assert!(matches!(response.status, 400 | 401), "{target}: {}", response.status);
        assert!(origin.requests().is_empty(), "{target}");
    };
    protected("/admin/u");
    protected("/admin");
    protected("/public/../admin/u");
    protected("/public/%2e%2e/admin/u");
    protected("/public/%2E%2e/admin/u");
    protected("/public/.%2e/admin/u");
    protected("/%61dmin/u");
    protected("//admin/u");
    protected("/./admin/u");
    protected("/admin/../admin/u");
    protected("http://a.test/public/../admin/u");

    // Read as one segment, or refused: never taken apart after the decision.
    let opaque = |target: &str| {
        let before = origin.requests().len();
        let response = proxy.get(target);
        match response.status {
            400 => assert_eq!(origin.requests().len(), before, "{target}"),
            200 => assert_eq!(origin.last().target(), target),
            other => panic!("{target}: {other}"),
        }
    };
    opaque("/admin;x/u");
    opaque("/public/..%2fadmin/u");
    opaque("/public%2f..%2fadmin/u");
    opaque("/public/..;/admin/u");
    opaque("/public/%2e%2e%2fadmin/u");
    opaque("/public/..%5cadmin/u");

    // The form that was matched is the form that plugins and the upstream see.
    assert_eq!(proxy.get("/pub/./%7euser/../%61%2f?q=%61/../b").status, 200);
    let seen = origin.last();
    assert_eq!(seen.target(), "/pub/a%2F?q=%61/../b");
    assert_eq!(seen.field("x-path").as_deref(), Some("/pub/a%2F"));
}

#[test]
fn paths_that_are_not_paths_are_refused() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let check = |target: &[u8]| {
        assert_eq!(proxy.ask(&get(target)).status, 400, "{}", target.escape_ascii());
        assert!(origin.requests().is_empty(), "{}", target.escape_ascii());
    };
    check(b"/../x");
    check(b"/a/../../x");
    check(b"/a%");
    check(b"/a%zz");
    check(b"/a%00b");
    check(b"/a\\b");
    check(b"no-slash-at-all-in-here");
}

#[test]
fn case_04_cookie_routing_reads_every_legal_cookie_header() {
    let (a, b) = (Origin::ok(), Origin::ok());
    let proxy = Setup::new()
        .upstream("a", &a)
        .upstream("b", &b)
        .route("variant", "match = { path = \"/*\", cookie = { variant = \"b\" } }", "b")
        .route("rest", "match = { path = \"/*\" }", "a")
        .start();
    let check = |lines: &[&str], goes_to: &Origin| {
        let before = goes_to.requests().len();
        let request = lines.iter().fold(get("/x"), |request, line| request.header("Cookie", line));
        assert_eq!(proxy.ask(&request).status, 200, "{lines:?}");
        assert_eq!(goes_to.requests().len(), before + 1, "{lines:?}");
        let expected: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(goes_to.last().head.all("cookie"), expected, "forwarded unchanged");
    };
    check(&["OnlyHttp;variant=b"], &b);
    check(&["variant=b"], &b);
    check(&["a=1;variant=b"], &b);
    check(&["a=1;  variant=b ; z=2"], &b);
    // Quotes are part of the value; the first of a name wins.
    check(&["variant=\"b\""], &a);
    check(&["xvariant=b"], &a);
    check(&["variant=bb"], &a);
    check(&["variant=a; variant=b"], &a);
    check(&["variant=b; variant=a"], &b);
    check(&["a=1", "variant=b"], &b);
    check(&["Variant=b"], &a);
    check(&[], &a);
}

#[test]
fn case_05_cookie_crumbs_of_http_2_become_one_line() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .with_h2()
        .plugin("headers", &guest("headers"), "")
        .upstream("main", &origin)
        .route_all(r#"["headers"]"#, "main")
        .start();
    let response = h2c::get(
        proxy.address(),
        "/x",
        &[("cookie", "a=1"), ("x-between", "1"), ("cookie", "b=2"), ("cookie", "csrf=x%3D")],
    );
    assert_eq!((response.status, response.body.as_slice()), (200, b"ok".as_slice()));
    let seen = origin.last();
    assert_eq!(seen.head.all("cookie"), [b"a=1; b=2; csrf=x%3D"]);
    assert_eq!(seen.field("x-cookie").as_deref(), Some("a=1; b=2; csrf=x%3D"), "what a plugin sees");
    // The same listener still speaks HTTP/1.1.
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn a_match_takes_methods_headers_queries_and_the_longest_path() {
    let origin = Origin::ok();
    let named = |name: &str| format!("plugins = [{{ name = \"mark\", config = {{ name = \"{name}\" }} }}]");
    let mut setup =
        Setup::new().plugin("mark", &guest("mark"), "isolation = \"reuse\"").upstream("main", &origin);
    for (name, matcher) in [
        ("wild", r#"host = "*.wild.test""#),
        ("exact", r#"path = "/v1/exact""#),
        ("prefix", r#"path = "/v1/*""#),
        ("longer", r#"path = "/v1/long/*""#),
        ("post", r#"path = "/v1/*", method = "POST""#),
        ("header", r#"path = "/v1/*", header = { x-tier = "gold" }"#),
        ("query", r#"path = "/v1/*", query = { mode = { regex = "^b[0-9]+$" } }"#),
    ] {
        setup = setup.route(name, &format!("match = {{ {matcher} }}\n{}", named(name)), "main");
    }
    let proxy = setup.start();
    let check = |request: edgewright_tests::Ask, expected: Option<&str>| {
        let response = proxy.ask(&request);
        assert_eq!(response.status, if expected.is_some() { 200 } else { 404 }, "{request:?}");
        assert_eq!(response.field("x-mark").as_deref(), expected, "{request:?}");
    };
    check(get("/v1"), Some("prefix"));
    check(get("/v1/"), Some("prefix"));
    check(get("/v1/x"), Some("prefix"));
    check(get("/v10"), None);
    check(get("/"), None);
    check(get("/v1/exact"), Some("exact"));
    check(get("/v1/exact/more"), Some("prefix"));
    check(get("/v1/long/x"), Some("longer"));
    check(ask("POST", "/v1/x").body(""), Some("post"));
    check(get("/v1/x").header("X-Tier", "gold"), Some("header"));
    check(get("/v1/x").header("X-Tier", "silver"), Some("prefix"));
    check(get("/v1/x?mode=b12"), Some("query"));
    check(get("/v1/x?mode=c12"), Some("prefix"));
    check(get("/any").host("a.wild.test"), Some("wild"));
    check(get("/any").host("a.b.wild.test"), Some("wild"));
    check(get("/any").host("wild.test"), None);
}
