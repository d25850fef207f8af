//! The plugin as a whole, on the double of the proxy.

use edgewright_sdk::testing::{self, Exchange};

use super::*;

const WIDGETS: &str = r#"{
    "path": { "regex": "^/([^/]+)/widgets(/.*)?$", "to": "/w$2" },
    "query": { "append": { "brand": "$1" } },
    "request": { "set": { "x-rewritten": "1" } }
}"#;

fn plugin(config: &str) -> Rewrite {
    testing::configure(config).unwrap()
}

fn rewritten(config: &str, target: &str) -> String {
    let mut exchange = Exchange::get(target);
    assert_eq!(exchange.on_request(&plugin(config)).verdict, Verdict::Next, "{target}");
    exchange.target()
}

#[test]
fn a_captured_segment_joins_the_clients_query() {
    fn check(target: &str, expected: &str) {
        assert_eq!(rewritten(WIDGETS, target), expected);
    }
    check("/acme/widgets/7?color=red&x=%26", "/w/7?color=red&x=%26&brand=acme");
    check("/acme/widgets/7", "/w/7?brand=acme");
    check("/acme/widgets", "/w?brand=acme");
    check("/acme/widgets/7?", "/w/7?brand=acme");
    check("/acme/widgets/7?a&", "/w/7?a&brand=acme");
    check("/acme/widgets/7?brand=b", "/w/7?brand=b&brand=acme");
    // Encoded pieces stay as they are, and none can end its parameter.
    check("/a%20b/widgets", "/w?brand=a%20b");
    check("/a&admin=1+2/widgets", "/w?brand=a%26admin%3D1%2B2");
}

#[test]
fn without_a_match_only_what_needs_one_is_left_alone() {
    let config = r#"{
        "path": { "regex": "^/a/(.*)$", "to": "/b/$1" },
        "query": { "append": { "from": "$1", "via": "edge" }, "remove": ["debug"] },
        "request": { "set": { "x-a": "1" } }
    }"#;
    let mut exchange = Exchange::get("/c/d?debug=1&x=2");
    assert_eq!(exchange.on_request(&plugin(config)).verdict, Verdict::Next);
    assert_eq!(exchange.target(), "/c/d?x=2&via=edge");
    assert_eq!(exchange.request_header("x-a").unwrap(), "1");
    assert_eq!(rewritten(config, "/a/d?debug"), "/b/d?from=d&via=edge");
}

#[test]
fn only_the_match_is_replaced() {
    fn check(regex: &str, to: &str, expected: &str) {
        let config = format!(r#"{{ "path": {{ "regex": "{regex}", "to": "{to}" }} }}"#);
        assert_eq!(rewritten(&config, "/v1/a/v1/b?c=d"), expected);
    }
    check("^/v1", "/v2", "/v2/a/v1/b?c=d");
    check("/b$", "", "/v1/a/v1?c=d");
    check("v1", "x", "/x/a/v1/b?c=d");
    check("none", "x", "/v1/a/v1/b?c=d");
}

#[test]
fn query_parameters_are_set_and_removed() {
    fn check(query: &str, target: &str, expected: &str) {
        assert_eq!(rewritten(&format!(r#"{{ "query": {query} }}"#), target), expected);
    }
    check(r#"{ "set": { "a": "x y" } }"#, "/?a=1&b=2&%61=3", "/?b=2&a=x%20y");
    check(r#"{ "set": { "a": "" } }"#, "/", "/?a=");
    check(r#"{ "remove": ["a"] }"#, "/?a=1", "/");
    check(r#"{ "remove": ["a"] }"#, "/?b=%2f&&c", "/?b=%2f&&c");
    check(r#"{ "append": { "b": "$$1", "a": "é" } }"#, "/", "/?a=%C3%A9&b=%241");
}

#[test]
fn headers_are_edited_on_both_sides() {
    let config = r#"{
        "request": { "set": { "x-a": "1" }, "append": { "x-b": "2" }, "remove": ["x-c"] },
        "response": { "set": { "server": "edge" }, "append": { "vary": "origin" }, "remove": ["x-powered-by"] }
    }"#;
    let plugin = plugin(config);
    let sent = Response::new(200).header("vary", "accept").header("x-powered-by", "php");
    let mut exchange =
        Exchange::get("/").header("x-a", "0").header("x-b", "1").header("x-c", "1").with_response(sent);
    exchange.on_request(&plugin);
    assert_eq!(exchange.request_header_all("x-a"), ["1"]);
    assert_eq!(exchange.request_header_all("x-b"), ["1", "2"]);
    assert_eq!(exchange.request_header("x-c"), None);
    exchange.on_response(&plugin);
    assert_eq!(exchange.response_header("server").unwrap(), "edge");
    assert_eq!(exchange.response_header_all("vary"), ["accept", "origin"]);
    assert_eq!(exchange.response_header("x-powered-by"), None);
}

#[test]
fn a_target_that_the_proxy_refuses_is_answered_with_500() {
    let config = r#"{ "path": { "regex": "^/x(.*)$", "to": "$1" } }"#;
    let mut exchange = Exchange::get("/xyz");
    let outcome = exchange.on_request(&plugin(config));
    assert_eq!(outcome.response().map(Response::status), Some(500));
    assert_eq!(exchange.target(), "/xyz");
    assert_eq!(exchange.logged().len(), 1);
}

#[test]
fn mistakes_are_load_errors() {
    fn check(config: &str, expected: &str) {
        let error = testing::configure::<Rewrite>(config).err().unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    }
    check(r#"{ "path": { "regex": "(", "to": "/" } }"#, "`path.regex`: ");
    check(r#"{ "path": { "regex": "a{1000}{1000}", "to": "/" } }"#, "`path.regex`: ");
    check(r#"{ "path": { "regex": "a", "to": "/$1" } }"#, "`path.to`: `path.regex` has no group `1`");
    check(r#"{ "path": { "regex": "a", "to": "/?b=c" } }"#, "use `query.append`");
    check(r#"{ "path": { "regex": "a", "to": "/a b" } }"#, "`path.to`: ' ' has to be percent-encoded");
    check(r#"{ "path": { "regex": "a" } }"#, "missing field `to`");
    check(r#"{ "query": { "set": { "a": "$1" } } }"#, "`query.set.a`: `${1}` needs a `path.regex`");
    check(
        r#"{ "request": { "set": { "host": "a" } } }"#,
        "`request.set.host`: the header belongs to the proxy",
    );
    check(r#"{ "response": { "append": { "a": "b\nc" } } }"#, "`response.append.a`: the header's value");
    check(r#"{ "request": { "remove": ["a b"] } }"#, "`request.remove`: `a b`: the header's name");
    check(r#"{ "requests": {} }"#, "unknown field `requests`");
}
