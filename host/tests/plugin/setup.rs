//! Instances that can't be made any more: what that costs, and what is said about it.

use std::time::{Duration, SystemTime};

use edgewright::config::model::Isolation;
use edgewright::plugin::Chain;
use edgewright::plugin::exchange::{Decision, Failure};

use crate::log::Lines;
use crate::request::{Bench, request};

/// A guest that starts until that time of the clock, and traps at its start from then on.
fn perishable(until: SystemTime) -> Vec<u8> {
    let until = until.duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_millis();
    let text = format!(
        r#"(component
            (import "wasi:clocks/wall-clock@0.2.0" (instance $clock
                (type $d (record (field "seconds" u64) (field "nanoseconds" u32)))
                (export "datetime" (type $datetime (eq $d))) (export "now" (func (result $datetime)))))
            (import "edgewright:plugin/types@0.1.0" (instance $types
                (type $header (record (field "name" string) (field "value" (list u8))))
                (export "header" (type $header-line (eq $header)))
                (type $response (record
                    (field "status" u16) (field "headers" (list $header-line)) (field "body" (list u8))))
                (export "response" (type $made (eq $response)))
                (type $verdict (variant (case "next") (case "respond" $made)))
                (export "verdict" (type (eq $verdict)))))
            (alias export $types "verdict" (type $verdict))
            (core module $memory (memory (export "memory") 1))
            (core instance $m (instantiate $memory))
            (alias core export $m "memory" (core memory $memory))
            (core func $now (canon lower (func $clock "now") (memory $memory)))
            (core module $code
                (import "m" "memory" (memory 1))
                (import "host" "now" (func $now (param i32)))
                (func $perish
                    (call $now (i32.const 64))
                    (if (i64.ge_u
                        (i64.add
                            (i64.mul (i64.load (i32.const 64)) (i64.const 1000))
                            (i64.div_u (i64.load32_u (i32.const 72)) (i64.const 1000000)))
                        (i64.const {until})) (then unreachable)))
                (start $perish)
                (func (export "on-request") (param i32) (result i32) (i32.const 0)))
            (core instance $guest (instantiate $code (with "m" (instance $m))
                (with "host" (instance (export "now" (func $now))))))
            (func $f (param "config" u32) (result $verdict)
                (canon lift (core func $guest "on-request") (memory $memory)))
            (instance $i (export "on-request" (func $f)))
            (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#
    );
    wat::parse_str(text).expect("the text of a component")
}

/// A chain of a plugin that was fine when it was loaded, and does not start any more.
async fn perished(bench: &Bench, isolation: Isolation) -> Chain {
    // A machine that is busy may take longer to load it than it lives.
    for life in [100, 1_000, 10_000] {
        let until = SystemTime::now() + Duration::from_millis(life);
        let mut spec = bench.spec(&perishable(until));
        spec.isolation = isolation;
        let Ok(plugin) = bench.load(&spec) else { continue };
        let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
        while SystemTime::now() < until {
            tokio::task::yield_now().await;
        }
        return Chain::new(vec![(plugin, config)]);
    }
    panic!("it is never loaded in time");
}

/// How often the guest was started, and how often that was put off.
fn attempts(lines: &Lines) -> (usize, usize) {
    let text = lines.text();
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    (count("wasm `unreachable` instruction executed"), count("it is tried again after a pause"))
}

#[tokio::test]
async fn an_instance_that_can_not_be_made_is_not_made_with_each_request() {
    for isolation in [Isolation::Reuse, Isolation::Fresh] {
        let lines = Lines::default();
        let _capture = lines.capture();
        let bench = Bench::new();
        let chain = perished(&bench, isolation).await;
        for call in 1..=20_usize {
            let decision = chain.on_request(&mut request(&[])).await;
            let expected = matches!(decision, Decision::Failed { failure: Failure::Instantiate, .. });
            assert!(expected, "{decision:?}");
            assert_eq!(attempts(&lines), (call.min(3), call.saturating_sub(3)), "{isolation:?}");
            // Nothing is made ahead, either.
            if call >= 3 {
                chain.refill().await;
            }
        }
    }
}

#[tokio::test]
async fn what_is_made_ahead_counts_as_well() {
    let lines = Lines::default();
    let _capture = lines.capture();
    let bench = Bench::new();
    let mut metrics = prometheus_client::registry::Registry::default();
    bench.engine.register(&mut metrics);
    let chain = perished(&bench, Isolation::Fresh).await;
    for _ in 0..20 {
        chain.refill().await;
    }
    assert_eq!(attempts(&lines), (3, 0), "{}", lines.text());
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &metrics).expect("a string takes all");
    assert!(text.contains(r#"plugin_failures_total{plugin="guest",reason="instantiate"} 3"#), "{text}");
    let decision = chain.on_request(&mut request(&[])).await;
    assert!(matches!(decision, Decision::Failed { failure: Failure::Instantiate, .. }), "{decision:?}");
    assert_eq!(attempts(&lines), (3, 1), "{}", lines.text());
}
