//! The order of routes, against a table of cases and against a plain reading of the rules.

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::config::model::{Action, Edits, Match, RouteTimeouts, ValuePattern};
use crate::ids::UpstreamId;

use super::*;

fn route(name: &str, matcher: Match) -> Route {
    Route {
        name: name.into(),
        matcher,
        chain: Vec::new(),
        action: Action::Upstream(UpstreamId(0)),
        edits: Edits::default(),
        max_body: None,
        mirror: None,
        timeouts: RouteTimeouts::default(),
        grpc_web: false,
        logged: true,
        place: None,
    }
}

/// `HOST PATH [xN]`: `*` for any, `xN` asks for N headers.
fn parse(text: &str) -> Route {
    let mut words = text.split(' ');
    let host = match words.next().unwrap() {
        "*" => vec![],
        host => vec![match host.strip_prefix("*.") {
            Some(suffix) => HostPattern::Wildcard(suffix.into()),
            None => HostPattern::Exact(host.into()),
        }],
    };
    let paths = match words.next().unwrap() {
        "*" => vec![],
        path => vec![match path.strip_suffix("/*") {
            Some(prefix) => PathPattern::Prefix(prefix.into()),
            None => PathPattern::Exact(path.into()),
        }],
    };
    let count = words.next().map_or(0, |word| word[1..].parse().unwrap());
    let names = ["x-a", "x-b", "x-c"];
    let headers =
        names[..count].iter().map(|n| (HeaderName::from_static(n), ValuePattern::Present)).collect();
    route(text, Match { hosts: host, paths, headers, ..Match::default() })
}

fn headers(count: usize) -> HeaderMap {
    let names = ["x-a", "x-b", "x-c"];
    names[..count].iter().map(|n| (HeaderName::from_static(n), HeaderValue::from_static("1"))).collect()
}

const ROUTES: &[&str] = &[
    "* *",
    "* /v1/*",
    "* /v1/* x1",
    "a.test /v1/*",
    "a.test /v1/* x1",
    "a.test /v1/* x2",
    "a.test /v1/x",
    "a.test /only x1",
    "*.test /v1/*",
    "*.a.test /deep/*",
    "b.test *",
];

fn check(host: &str, path: &str, header_count: usize, expected: Option<&str>) {
    let routes: Vec<_> = ROUTES.iter().map(|text| parse(text)).collect();
    let headers = headers(header_count);
    let request = Request { host, path, query: None, method: &Method::GET, headers: &headers };
    let found = RouteTable::build(&routes).find(&request);
    assert_eq!(found.map(|id| ROUTES[id.index()]), expected, "{host}{path} with {header_count}");
}

#[test]
fn the_most_specific_route_wins() {
    check("a.test", "/v1/x", 0, Some("a.test /v1/x"));
    check("a.test", "/v1/x", 3, Some("a.test /v1/x"));
    check("a.test", "/v1/y", 0, Some("a.test /v1/*"));
    check("a.test", "/v1/y", 1, Some("a.test /v1/* x1"));
    check("a.test", "/v1/y", 2, Some("a.test /v1/* x2"));
    check("a.test", "/v1", 0, Some("a.test /v1/*"));
    check("a.test", "/v10", 0, Some("* *"));
    check("x.test", "/v1/x", 0, Some("*.test /v1/*"));
    check("y.x.test", "/v1/x", 0, Some("*.test /v1/*"));
    check("b.test", "/v1/x", 0, Some("b.test *"));
    check("b.test", "*", 0, Some("b.test *"));
    check("", "/v1/x", 0, Some("* /v1/*"));
    check("127.0.0.1", "/v1/x", 1, Some("* /v1/* x1"));
}

#[test]
fn unmet_conditions_fall_through_to_the_next_path_and_host() {
    check("a.test", "/only", 1, Some("a.test /only x1"));
    check("a.test", "/only", 0, Some("* *"));
    check("x.a.test", "/deep/x", 0, Some("*.a.test /deep/*"));
    check("x.a.test", "/v1/x", 0, Some("*.test /v1/*"));
    check("x.a.test", "/other", 0, Some("* *"));
}

#[test]
fn nothing_fits_in_an_empty_table() {
    let headers = HeaderMap::new();
    let request = Request { host: "a", path: "/", query: None, method: &Method::GET, headers: &headers };
    assert_eq!(RouteTable::build(&[]).find(&request), None);
    let said = RouteTable::build(&[]).explain(&request);
    assert_eq!(said.to_string(), "GET a/: no route\n");
}

#[test]
fn file_order_decides_between_equals() {
    let routes = [parse("a.test /x"), parse("a.test /x"), parse("* *"), parse("* /*")];
    let table = RouteTable::build(&routes);
    let headers = HeaderMap::new();
    let at = |host, path| {
        table.find(&Request { host, path, query: None, method: &Method::GET, headers: &headers })
    };
    assert_eq!(at("a.test", "/x"), Some(RouteId(0)));
    assert_eq!(at("b.test", "/x"), Some(RouteId(2)));
}

#[test]
fn explanations_name_what_failed() {
    let routes: Vec<_> = ["a.test /v1/* x1", "a.test /v2/*", "*.b.test *", "* *"].map(parse).into();
    let headers = HeaderMap::new();
    let request =
        Request { host: "a.test", path: "/v1/x", query: None, method: &Method::GET, headers: &headers };
    let said = RouteTable::build(&routes).explain(&request);
    assert_eq!(
        said.to_string(),
        "GET a.test/v1/x: route `* *`\n  \
         - `a.test /v1/* x1`: the header `x-a` does not match\n  \
         + `* *`: taken by any host, any path\n  \
         - `a.test /v2/*`: the path `/v1/x` is not `/v2/*`\n  \
         - `*.b.test *`: the host `a.test` is not `*.b.test`\n"
    );
    let json = serde_json::to_value(&said).unwrap();
    assert_eq!(json["route"], "* *");
    assert_eq!(json["candidates"][0]["outcome"], "condition-not-met");
}

#[test]
fn a_tie_is_told_as_one() {
    let routes: Vec<_> = ["a.test /v1/*", "a.test /v1/*", "* /v1/*"].map(parse).into();
    let headers = HeaderMap::new();
    let request =
        Request { host: "a.test", path: "/v1/x", query: None, method: &Method::GET, headers: &headers };
    let said = RouteTable::build(&routes).explain(&request);
    assert_eq!(
        said.candidates[1].reason,
        "would fit by host `a.test`, path `/v1/*`: as specific, but further down in the file"
    );
    assert_eq!(said.candidates[2].reason, "would fit by any host, path `/v1/*`");
}

#[test]
fn long_explanations_are_cut() {
    let routes: Vec<_> = (0..30).map(|n| parse(&format!("h{n}.test /x"))).collect();
    let headers = HeaderMap::new();
    let request =
        Request { host: "h29.test", path: "/x", query: None, method: &Method::GET, headers: &headers };
    let said = RouteTable::build(&routes).explain(&request);
    assert_eq!((said.candidates.len(), said.omitted), (11, 19));
}

/// The rules, read plainly: every pair of patterns that fits, the most specific first.
fn plain(routes: &[Route], request: &Request<'_>) -> Option<RouteId> {
    let host_rank = |pattern: Option<&HostPattern>| match pattern {
        None => Some((2, 0)),
        Some(HostPattern::Exact(name)) => (name == request.host).then_some((0, 0)),
        Some(HostPattern::Wildcard(suffix)) => request
            .host
            .strip_suffix(suffix.as_str())?
            .ends_with('.')
            .then_some((1, usize::MAX - suffix.len())),
    };
    let path_rank = |pattern: Option<&PathPattern>| match pattern {
        None => Some((1, usize::MAX)),
        Some(PathPattern::Exact(path)) => (path == request.path).then_some((0, 0)),
        Some(PathPattern::Prefix(prefix)) => {
            let rest = request.path.strip_prefix(prefix.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some((1, usize::MAX - prefix.len()))
        }
    };
    let fitting = routes.iter().enumerate().filter_map(|(index, route)| {
        let host = patterns(&route.matcher.hosts).filter_map(host_rank).min()?;
        let path = patterns(&route.matcher.paths).filter_map(path_rank).min()?;
        let has_all = route.matcher.headers.iter().all(|(name, _)| request.headers.contains_key(name));
        has_all.then_some((host, path, Reverse(route.matcher.headers.len()), index))
    });
    fitting.min().map(|(_, _, _, index)| RouteId::at(index))
}

/// A small generator of numbers: the same tables in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

#[test]
fn find_explain_and_the_plain_reading_agree_on_random_tables() {
    let mut numbers = Numbers(42);
    for _ in 0..400 {
        let routes: Vec<_> = (0..numbers.below(12))
            .map(|_| {
                let host = numbers.of(&["*", "a.test", "b.a.test", "*.test", "*.a.test", "*.b.a.test"]);
                let path = numbers.of(&["*", "/*", "/", "/a", "/a/*", "/a/b", "/a/b/*", "/a/", "/ab/*"]);
                parse(&format!("{host} {path} x{}", numbers.below(4)))
            })
            .collect();
        let table = RouteTable::build(&routes);
        for _ in 0..40 {
            let host = numbers.of(&["a.test", "b.a.test", "c.b.a.test", "test", "x", "", "127.0.0.1"]);
            let path = numbers.of(&["/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/ab/c", "/abc"]);
            let headers = headers(numbers.below(4));
            let request = Request { host, path, query: None, method: &Method::GET, headers: &headers };
            let expected = plain(&routes, &request);
            let said = table.explain(&request);
            assert_eq!(table.find(&request), expected, "{said}");
            assert_eq!(said.id(), expected, "{said}");
        }
    }
}
