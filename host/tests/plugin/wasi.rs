//! The little of WASI that is granted: on a fiber, within the limits.

use std::time::{Duration, Instant};

use edgewright::plugin::exchange::{Decision, Failure};

use crate::request::{Bench, request};

/// A guest that sleeps before it says `next`.
fn sleeper(nanos: u64) -> Vec<u8> {
    let text = format!(
        r#"(component
            (import "wasi:io/poll@0.2.0" (instance $poll
                (export "pollable" (type $pollable (sub resource)))
                (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
            (alias export $poll "pollable" (type $pollable))
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
                (alias outer 1 $pollable (type $outer)) (export "pollable" (type $p (eq $outer)))
                (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
            (import "edgewright:plugin/types@0.1.0" (instance $types
                (type $header (record (field "name" string) (field "value" (list u8))))
                (export "header" (type $header-line (eq $header)))
                (type $response (record
                    (field "status" u16) (field "headers" (list $header-line)) (field "body" (list u8))))
                (export "response" (type $made (eq $response)))
                (type $verdict (variant (case "next") (case "respond" $made)))
                (export "verdict" (type (eq $verdict)))))
            (alias export $types "verdict" (type $verdict))
            (core func $subscribe (canon lower (func $clock "subscribe-duration")))
            (core func $block (canon lower (func $poll "[method]pollable.block")))
            (core func $drop (canon resource.drop $pollable))
            (core module $code
                (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
                (import "host" "block" (func $block (param i32)))
                (import "host" "drop" (func $drop (param i32)))
                (memory (export "memory") 1)
                (func (export "on-request") (param i32) (result i32)
                    (local $timer i32)
                    (local.set $timer (call $subscribe (i64.const {nanos})))
                    (call $block (local.get $timer))
                    (call $drop (local.get $timer))
                    (i32.const 0)))
            (core instance $guest (instantiate $code (with "host" (instance
                (export "subscribe" (func $subscribe)) (export "block" (func $block))
                (export "drop" (func $drop))))))
            (func $f (param "config" u32) (result $verdict)
                (canon lift (core func $guest "on-request") (memory $guest "memory")))
            (instance $i (export "on-request" (func $f)))
            (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#
    );
    wat::parse_str(text).expect("the text of a component")
}

#[tokio::test]
async fn a_guest_may_sleep_but_not_for_long() {
    let bench = Bench::new();
    let plugin = bench.load(&bench.spec(&sleeper(1))).expect("a plugin");
    assert!(plugin.waits());
    let chain = bench.chain(&bench.spec(&sleeper(30_000_000)));
    let began = Instant::now();
    let decision = chain.on_request(&mut request(&[])).await;
    assert!(matches!(decision, Decision::Next), "{decision:?}");
    assert!(began.elapsed() >= Duration::from_millis(30), "more than the CPU time that it has");
    let chain = bench.chain(&bench.spec(&sleeper(60_000_000_000)));
    let mut lent = request(&[]);
    let decision = chain.on_request(&mut lent).await;
    assert!(matches!(decision, Decision::Failed { failure: Failure::TimeLimit, .. }), "{decision:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(lent.exchange().is_some(), "it is back after a time-out");
}
