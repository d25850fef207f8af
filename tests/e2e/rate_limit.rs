//! The plugin `rate-limit` in the real proxy.

use std::collections::BTreeMap;

use edgewright_tests::{Origin, get};

use crate::shipped::shipped;

#[test]
fn rate_limit_lets_exactly_the_limit_through_on_all_workers() {
    let origin = Origin::ok();
    let config = r#"{ limit = 20, per = "1h" }"#;
    let proxy = shipped("rate-limit", config, &origin).server("threads = 4").start();
    let mut statuses = BTreeMap::new();
    std::thread::scope(|scope| {
        let client = || (0..10).map(|_| proxy.get("/x").status).collect::<Vec<_>>();
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
        for status in clients.into_iter().flat_map(|client| client.join().expect("answers")) {
            *statuses.entry(status).or_insert(0) += 1;
        }
    });
    assert_eq!(statuses, BTreeMap::from([(200, 20), (429, 60)]));
    assert_eq!(origin.requests().len(), 20);
    let refused = proxy.get("/x").expect_status(429);
    let retry: u64 = refused.field("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=3_825).contains(&retry), "{retry}");
    assert_eq!(refused.field("ratelimit-policy").as_deref(), Some(r#""default";q=20;w=3600"#));
    assert!(refused.field("ratelimit").expect("how it stands").starts_with(r#""default";r=0;t="#));
}

#[test]
fn rate_limit_counts_by_header() {
    let origin = Origin::ok();
    let config = r#"{ limit = 2, per = "1h", by = { header = "x-tenant" } }"#;
    let proxy = shipped("rate-limit", config, &origin).start();
    let status = |tenant: &str| proxy.ask(&get("/").header("x-tenant", tenant)).status;
    assert_eq!([status("a"), status("a"), status("a"), status("b")], [200, 200, 429, 200]);
    let passed = proxy.ask(&get("/").header("x-tenant", "b"));
    assert!(passed.field("ratelimit").expect("how it stands").starts_with(r#""default";r=0;t="#));
}
