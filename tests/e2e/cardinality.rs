//! What clients send never becomes a series of the metrics.

use edgewright_tests::{Origin, Setup, ask};

/// Series that a proxy of this size may have. Every route, upstream and plugin has some; no request has.
const MOST_SERIES: usize = 1_000;

#[test]
fn c59_metrics_do_not_grow_with_what_clients_send() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("limits.requests = 100000")
        .upstream("main", &origin)
        .route("one", "match = { path = \"/a/*\" }", "main")
        .config("[[routes]]\nname = \"two\"\nmatch = { path = \"/b/*\" }\nredirect = { path = \"/a{path}\" }")
        .start();
    let mut client = proxy.connect();
    let mut send = |number: usize| {
        let method = ["GET", "PUT", "DELETE", "PROPFIND", "BREW"][number % 5];
        let method = if number.is_multiple_of(7) { format!("M{number}") } else { method.to_owned() };
        let target = format!("/{}/{number}?q{number}=1", ["a", "b", "c"][number % 3]);
        let request = ask(&method, target)
            .host(format!("h{number}.test"))
            .header(format!("X-{number}"), "1")
            .header("User-Agent", format!("agent {number}"));
        let response = client.ask(&request);
        assert!(matches!(response.status, 200 | 302 | 404), "{method} {number}: {}", response.status);
    };
    // Every kind of answer once, and then many more of them.
    (0..210).for_each(&mut send);
    let before = proxy.metrics().series();
    (210..20_000).for_each(&mut send);
    let after = proxy.metrics().series();
    assert_eq!(after, before, "series after 210 and after 20,000 requests");
    assert!(after < MOST_SERIES, "{after} series");
}
