//! Instances that are made before the first request.

use std::thread;
use std::time::{Duration, Instant};

use edgewright::config::model::Isolation;
use edgewright::plugin::exchange::{Decision, Failure};
use edgewright::plugin::{Census, Chain};

use crate::guest::{Guest, LOOP_IF_ASKED};
use crate::request::{Bench, request};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// Calls it once on a thread of its own, as a worker would.
fn call(chain: &Chain, loops: bool) -> Decision {
    let headers: &[_] = if loops { &[("x-in", "1")] } else { &[] };
    thread::scope(|scope| {
        let called = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            Ok::<_, std::io::Error>(runtime.block_on(chain.on_request(&mut request(headers))))
        });
        called.join().expect("no panic").expect("a runtime")
    })
}

#[test]
fn the_first_call_of_a_worker_takes_an_instance_that_is_there() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    for (isolation, time, ready) in [
        (Isolation::Reuse, Duration::from_millis(10), 2),
        (Isolation::Reuse, Duration::from_millis(20), 2),
        (Isolation::Fresh, Duration::from_millis(10), 4),
    ] {
        (spec.isolation, spec.limits.time) = (isolation, time);
        let plugin = bench.load(&spec).expect("a plugin");
        let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
        let chain = Chain::new(vec![(plugin.clone(), config)]);
        plugin.warm(&chain.configurations(&plugin).collect::<Vec<_>>(), soon());
        assert_eq!(plugin.census(), Census { idle: ready, ..Census::default() }, "{isolation:?}");
        assert!(matches!(call(&chain, false), Decision::Next));
        // A used one of `fresh` waits to be taken down.
        assert_eq!(plugin.census(), Census { idle: ready, ..Census::default() }, "none was made");
        let looped = call(&chain, true);
        assert!(matches!(looped, Decision::Failed { failure: Failure::TimeLimit, .. }), "{looped:?}");
        assert_eq!(plugin.census(), Census { idle: ready - 1, ..Census::default() }, "that one is lost");
        plugin.warm(&[config], soon());
        assert_eq!(plugin.census().idle, ready - 1, "workers make what they need themselves from then on");
    }
}

#[test]
fn warming_ends_in_time_and_leaves_plugins_alone_that_no_route_calls() {
    let bench = Bench::new();
    let spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    let plugin = bench.load(&spec).expect("a plugin");
    plugin.warm(&[], soon());
    assert_eq!(plugin.census(), Census::default());
    let plugin = bench.load(&spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    plugin.warm(&[config], Instant::now());
    assert_eq!(plugin.census(), Census::default());
    assert!(matches!(call(&Chain::new(vec![(plugin, config)]), false), Decision::Next));
}
