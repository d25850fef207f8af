//! The little of WASI that is granted: on a fiber where it may wait, at once where it can't.

use std::time::{Duration, Instant};

use edgewright::plugin::exchange::{Decision, Failure};

use crate::log::Lines;
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

/// A guest that writes a line to standard error, in two pieces, and says `next`.
fn writer() -> Vec<u8> {
    let text = r#"(component
        (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type $error (sub resource)))))
        (alias export $errors "error" (type $error))
        (import "wasi:io/streams@0.2.0" (instance $streams
            (alias outer 1 $error (type $outer)) (export "error" (type $e (eq $outer)))
            (type $failed (variant (case "last-operation-failed" (own $e)) (case "closed")))
            (export "stream-error" (type $stream-error (eq $failed)))
            (export "output-stream" (type $output (sub resource)))
            (export "[method]output-stream.blocking-write-and-flush" (func
                (param "self" (borrow $output)) (param "contents" (list u8))
                (result (result (error $stream-error)))))))
        (alias export $streams "output-stream" (type $output))
        (import "wasi:cli/stderr@0.2.0" (instance $stderr
            (alias outer 1 $output (type $outer)) (export "output-stream" (type $o (eq $outer)))
            (export "get-stderr" (func (result (own $o))))))
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
        (core func $get (canon lower (func $stderr "get-stderr")))
        (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
            (memory $memory)))
        (core module $code
            (import "m" "memory" (memory 1))
            (import "host" "get" (func $get (result i32)))
            (import "host" "write" (func $write (param i32 i32 i32 i32)))
            (data (i32.const 1024) "half a line, and the rest\nunfinished")
            (func (export "on-request") (param i32) (result i32)
                (local $stream i32)
                (local.set $stream (call $get))
                (call $write (local.get $stream) (i32.const 1024) (i32.const 11) (i32.const 64))
                (call $write (local.get $stream) (i32.const 1035) (i32.const 25) (i32.const 64))
                (i32.const 0)))
        (core instance $guest (instantiate $code (with "m" (instance $m)) (with "host" (instance
            (export "get" (func $get)) (export "write" (func $write))))))
        (func $f (param "config" u32) (result $verdict)
            (canon lift (core func $guest "on-request") (memory $memory)))
        (instance $i (export "on-request" (func $f)))
        (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#;
    wat::parse_str(text).expect("the text of a component")
}

#[tokio::test]
async fn what_a_guest_prints_is_logged_without_waiting() {
    let lines = Lines::default();
    let _capture = lines.capture();
    let bench = Bench::new();
    let plugin = bench.load(&bench.spec(&writer())).expect("a plugin");
    assert!(!plugin.waits(), "its streams are always ready");
    let chain = bench.chain(&bench.spec(&writer()));
    let decision = chain.on_request(&mut request(&[])).await;
    assert!(matches!(decision, Decision::Next), "{decision:?}");
    assert!(
        lines.text().contains("WARN plugin: half a line, and the rest plugin=\"guest\" request=\"-\"\n"),
        "{}",
        lines.text()
    );
    assert!(!lines.text().contains("unfinished"), "{}", lines.text());
    drop(chain);
    assert!(lines.text().contains("WARN plugin: unfinished"), "{}", lines.text());
}
