//! Chains: order, short circuit, and what plugins see of each other.

use edgewright::config::model::{Isolation, OnFailure};
use edgewright::phase::Phase;
use edgewright::plugin::Chain;
use edgewright::plugin::exchange::{Decision, Entry, Failure};
use http::StatusCode;

use crate::guest::{COPY, COUNT, COUNTER, FORBID, Guest, NEXT, SEEN};
use crate::request::{Bench, answered, header, request, response_header};

/// Sets the response header `x-seen`.
const SEEN_OUT: &str = "
    (call $set-out (i32.const 1024) (i32.const 6) (i32.const 1032) (i32.const 3) (i32.const 128))
    (i32.const 0)";

#[tokio::test]
async fn a_header_is_copied() {
    let bench = Bench::new();
    let chain = bench.chain(&bench.spec(&Guest { on_request: Some(COPY), ..Guest::default() }.build()));
    let mut lent = request(&[("x-in", "a value")]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
    assert_eq!(header(&lent, "x-out"), Some("a value"));
    let mut lent = request(&[]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
    assert_eq!(header(&lent, "x-out"), None);
    let calls = &lent.exchange().expect("the exchange").calls;
    assert_eq!(
        calls.iter().map(|call| (&*call.plugin, call.phase)).collect::<Vec<_>>(),
        [("guest", Phase::Request)]
    );
}

#[tokio::test]
async fn an_answer_ends_the_request_phase() {
    let bench = Bench::new();
    let forbid = bench.load(&bench.spec(&Guest { on_request: Some(FORBID), ..Guest::default() }.build()));
    let seen = bench.load(&bench.spec(&Guest { on_request: Some(SEEN), ..Guest::default() }.build()));
    let (forbid, seen) = (forbid.expect("a plugin"), seen.expect("a plugin"));
    let config = forbid.configure(&serde_json::Map::new()).expect("no configuration");
    let same = seen.configure(&serde_json::Map::new()).expect("no configuration");
    let chain = Chain::new(vec![(forbid.clone(), config), (seen.clone(), same)]);
    let mut lent = request(&[]);
    let Decision::Respond { by, response } = chain.on_request(&mut lent).await else { panic!("no answer") };
    assert_eq!((&*by, response.status, &*response.body), ("guest", StatusCode::FORBIDDEN, &b"no"[..]));
    assert_eq!(header(&lent, "x-seen"), None);

    let chain = Chain::new(vec![(seen, same), (forbid, config)]);
    let mut lent = request(&[]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Respond { .. }));
    assert_eq!(header(&lent, "x-seen"), Some("yes"));
}

#[tokio::test]
async fn responses_go_through_the_chain_in_reverse() {
    let bench = Bench::new();
    let seen = Guest { on_response: Some(SEEN_OUT), ..Guest::default() }.build();
    let seen = bench.load(&bench.spec(&seen)).expect("a plugin");
    let none = serde_json::Map::new();
    for (body, on_failure, expected) in [
        (FORBID, OnFailure::Closed, StatusCode::FORBIDDEN),
        ("unreachable", OnFailure::Closed, StatusCode::SERVICE_UNAVAILABLE),
        ("unreachable", OnFailure::Open, StatusCode::OK),
    ] {
        let mut spec = bench.spec(&Guest { on_response: Some(body), ..Guest::default() }.build());
        spec.on_failure = on_failure;
        let other = bench.load(&spec).expect("a plugin");
        let first = (seen.clone(), seen.configure(&none).expect("no configuration"));
        let last = (other.clone(), other.configure(&none).expect("no configuration"));
        let chain = Chain::new(vec![first, last]);
        let mut lent = answered(&[]);
        let decision = chain.on_response(&mut lent).await;
        match (expected, &decision) {
            (StatusCode::FORBIDDEN, Decision::Respond { response, .. }) => assert_eq!(&*response.body, b"no"),
            (StatusCode::SERVICE_UNAVAILABLE, Decision::Failed { failure: Failure::Trap, .. }) => {}
            (StatusCode::OK, Decision::Next) => {}
            _ => panic!("{expected}: {decision:?}"),
        }
        let response = lent.exchange().expect("the exchange").heads.response().expect("a response");
        assert_eq!(response.status, expected);
        assert_eq!(response_header(&lent, "x-seen"), Some("yes"), "the first plugin runs after the last");
    }
}

#[tokio::test]
async fn the_head_of_a_request_is_closed_after_its_phase() {
    let bench = Bench::new();
    let late = Guest { on_response: Some(SEEN), ..Guest::default() };
    let chain = bench.chain(&bench.spec(&late.build()));
    let mut lent = answered(&[]);
    assert!(matches!(chain.on_response(&mut lent).await, Decision::Next));
    assert_eq!(header(&lent, "x-seen"), None);
    let early = Guest { on_request: Some(SEEN_OUT), ..Guest::default() };
    let chain = bench.chain(&bench.spec(&early.build()));
    let mut lent = answered(&[]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
    assert_eq!(response_header(&lent, "x-seen"), None);
}

#[tokio::test]
async fn the_finished_request_is_told() {
    let bench = Bench::new();
    // The first field behind the configuration is the status.
    let log = "(if (i32.ne (i32.load16_u offset=8 (local.get $entry)) (i32.const 204)) (then unreachable))";
    let chain = bench.chain(&bench.spec(&Guest { on_log: Some(log), ..Guest::default() }.build()));
    assert!(chain.has(Phase::Log) && !chain.has(Phase::Request) && !chain.has(Phase::Response));
    let mut metrics = prometheus_client::registry::Registry::default();
    bench.engine.register(&mut metrics);
    for (status, skipped) in [(204, 0), (200, 1)] {
        let mut lent = answered(&[]);
        lent.exchange_mut().expect("the exchange").entry =
            Some(Entry { status, upstream: Some("origin".into()), ..Entry::default() });
        chain.on_log(&mut lent).await;
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &metrics).expect("a string takes all");
        let line = format!(
            "plugin_calls_total{{plugin=\"guest\",phase=\"log-filter\",outcome=\"skipped\"}} {skipped}"
        );
        assert!(text.contains(&line), "{text}");
    }
}

#[tokio::test]
async fn p15_isolation() {
    let bench = Bench::new();
    let counting = Guest { on_request: Some(COUNT), items: COUNTER, ..Guest::default() }.build();
    for (isolation, expected) in [(Isolation::Reuse, ["0", "1", "2"]), (Isolation::Fresh, ["0", "0", "0"])] {
        let mut spec = bench.spec(&counting);
        spec.isolation = isolation;
        let chain = bench.chain(&spec);
        for count in expected {
            let mut lent = request(&[]);
            assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
            assert_eq!(header(&lent, "x-count"), Some(count), "{isolation:?}");
            chain.refill().await;
        }
    }
}

#[test]
fn phases_that_no_plugin_has() {
    let bench = Bench::new();
    let chain = bench.chain(&bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build()));
    assert!(chain.has(Phase::Request) && !chain.has(Phase::Response) && !chain.has(Phase::Log));
    assert!(Phase::ALL.iter().all(|phase| !Chain::default().has(*phase)));
}

/// Hooks of the proxy are futures that move between threads before they run.
#[test]
fn phases_can_be_sent() {
    fn check(_: impl Send) {}
    let chain = Chain::default();
    let mut lent = request(&[]);
    check(chain.on_request(&mut lent));
    check(chain.on_response(&mut lent));
    check(chain.on_log(&mut lent));
    check(chain.refill());
}
