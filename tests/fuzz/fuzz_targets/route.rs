//! Requests and a table of routes: the look-up and the explanation never disagree, and neither panics.

#![no_main]

use std::io::Write as _;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use edgewright::config;
use edgewright::route::{Request, RouteTable};
use edgewright::target;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use libfuzzer_sys::fuzz_target;

const ROUTES: &str = r#"
[[listeners]]
address = "127.0.0.1:8080"
[upstreams.a]
peers = ["127.0.0.1:9000"]
[[routes]]
name = "exact"
match = { host = "a.test", path = "/v1/status" }
upstream = "a"
[[routes]]
name = "prefix"
match = { host = ["a.test", "*.b.test"], path = "/v1/*" }
upstream = "a"
[[routes]]
name = "method"
match = { path = "/v1/*", method = ["GET", "POST"] }
upstream = "a"
[[routes]]
name = "header"
match = { path = "/v1/*", header = { x-a = { regex = "^[a-c]+$" } } }
upstream = "a"
[[routes]]
name = "query"
match = { path = "/*", query = { q = { prefix = "x" } } }
upstream = "a"
[[routes]]
name = "cookie"
match = { host = "*.test", cookie = { c = { present = true } } }
upstream = "a"
"#;

static TABLE: LazyLock<RouteTable> = LazyLock::new(|| {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(ROUTES.as_bytes()).expect("a file");
    let checked = config::load(file.path()).expect("a configuration");
    RouteTable::build(&checked.config.routes)
});

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    host: &'a [u8],
    target: &'a [u8],
    post: bool,
    headers: Vec<(u8, &'a [u8])>,
}

fuzz_target!(|input: Input<'_>| {
    let Ok(target) = target::parse(input.target) else { return };
    let host = target::authority(input.host).ok();
    let names = [http::header::COOKIE, HeaderName::from_static("x-a"), http::header::ACCEPT];
    let mut headers = HeaderMap::new();
    for (name, value) in input.headers {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(names[usize::from(name) % names.len()].clone(), value);
        }
    }
    let request = Request {
        host: host.as_ref().map_or("", |host| host.host()),
        path: &target.path,
        query: target.query.as_deref(),
        method: if input.post { &Method::POST } else { &Method::GET },
        headers: &headers,
    };
    let explained = TABLE.explain(&request);
    assert_eq!(TABLE.find(&request), explained.id());
    let _ = explained.to_string();
});
