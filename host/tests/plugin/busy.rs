//! Instances that are all busy, old or too large: who waits, who is turned away, and what is made anew.

use std::sync::Arc;
use std::time::Duration;

use edgewright::config::model::Isolation;
use edgewright::plugin::exchange::{Decision, Failure};
use edgewright::plugin::{Census, Chain};

use crate::guest::{COUNT, COUNTER, Guest, LOOP_IF_ASKED};
use crate::request::{Bench, header, request};

#[tokio::test]
async fn p16_a_call_waits_its_turn_for_an_instance() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits.time = Duration::from_millis(20);
    spec.limits.instances = 1;
    spec.limits.queue = Duration::from_secs(10);
    for isolation in [Isolation::Reuse, Isolation::Fresh] {
        spec.isolation = isolation;
        let plugin = bench.load(&spec).expect("a plugin");
        let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
        let chain = Chain::new(vec![(plugin.clone(), config)]);
        let (mut looping, mut second, mut third) = (request(&[("x-in", "1")]), request(&[]), request(&[]));
        let (looping, second, third) = tokio::join!(
            chain.on_request(&mut looping),
            chain.on_request(&mut second),
            chain.on_request(&mut third)
        );
        assert!(matches!(looping, Decision::Failed { failure: Failure::TimeLimit, .. }), "{looping:?}");
        assert!(matches!(second, Decision::Next), "{second:?}");
        assert!(matches!(third, Decision::Next), "{third:?}");
        let Census { busy, building, queued, .. } = plugin.census();
        assert_eq!((busy, building, queued), (0, 0, 0), "{isolation:?}");
        assert!(plugin.vitals().waits.0 >= 2, "{:?}", plugin.vitals());
    }
}

#[tokio::test]
async fn p16_a_crowd_is_turned_away_in_time_and_leaves_nothing() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits.time = Duration::from_millis(30);
    spec.limits.instances = 4;
    spec.limits.queue = Duration::from_millis(5);
    let plugin = bench.load(&spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    let chain = Arc::new(Chain::new(vec![(plugin.clone(), config)]));
    let calls: Vec<_> = (0..500)
        .map(|_| {
            let chain = Arc::clone(&chain);
            tokio::spawn(async move { chain.on_request(&mut request(&[("x-in", "1")])).await })
        })
        .collect();
    let (mut cut, mut busy) = (0, 0);
    for call in calls {
        match call.await.expect("no panic") {
            Decision::Failed { failure: Failure::TimeLimit, .. } => cut += 1,
            Decision::Failed { failure: Failure::PoolExhausted, .. } => busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(cut >= 4 && busy >= 400, "{cut} were cut, {busy} turned away");
    assert_eq!(plugin.census(), Census::default());
    assert!(matches!(chain.on_request(&mut request(&[])).await, Decision::Next));
    assert_eq!(plugin.census(), Census { idle: 1, ..Census::default() });
}

/// A call that is dropped on its fiber, as when a time-out above it fires: its instance goes with it, and the
/// next call gets another one.
#[tokio::test]
async fn c53_calls_that_are_dropped_half_way_leave_nothing() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits.time = Duration::from_millis(500);
    spec.limits.instances = 2;
    let plugin = bench.load(&spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    let chain = Chain::new(vec![(plugin.clone(), config)]);
    for _ in 0..200 {
        let mut lent = request(&[("x-in", "1")]);
        tokio::select! {
            biased;
            decision = chain.on_request(&mut lent) => panic!("{decision:?}"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(plugin.census(), Census::default());
        let mut lent = request(&[]);
        assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
        assert_eq!(header(&lent, "x-seen"), Some("yes"));
    }
}

#[tokio::test]
async fn an_instance_is_replaced_after_so_many_calls() {
    let bench = Bench::new();
    let guest = Guest { on_request: Some(COUNT), items: COUNTER, ..Guest::default() };
    let mut spec = bench.spec(&guest.build());
    spec.limits.calls = 3;
    let chain = bench.chain(&spec);
    for expected in ["0", "1", "2", "0", "1", "2", "0"] {
        let mut lent = request(&[]);
        chain.on_request(&mut lent).await;
        assert_eq!(header(&lent, "x-count"), Some(expected));
    }
}

/// A guest that leaks 64 KiB a call.
#[tokio::test]
async fn p05_a_leak_ends_with_its_instance() {
    let bench = Bench::new();
    let leak = format!("(if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable)) {COUNT}");
    let guest = Guest { on_request: Some(&leak), items: COUNTER, ..Guest::default() };
    let mut spec = bench.spec(&guest.build());
    spec.limits.kept_memory = 4 * 64 * 1024;
    let plugin = bench.load(&spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    let chain = Chain::new(vec![(plugin.clone(), config)]);
    // Two pages at the start, and five are too many.
    for _ in 0..500 {
        for expected in ["0", "1", "2"] {
            let mut lent = request(&[]);
            assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
            assert_eq!(header(&lent, "x-count"), Some(expected));
        }
    }
    assert_eq!(plugin.memory_peak(), 5 * 64 * 1024);
}
