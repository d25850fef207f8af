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

/// What each of the guests below imports, and the core functions that it has of it.
const LIMITED: &str = r#"
    (import "wasi:random/random@0.2.0" (instance $random
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))
        (export "get-random-u64" (func (result u64)))))
    (import "wasi:clocks/wall-clock@0.2.0" (instance $clock
        (type $d (record (field "seconds" u64) (field "nanoseconds" u32)))
        (export "datetime" (type $datetime (eq $d))) (export "now" (func (result $datetime)))))
    (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type $error (sub resource)))))
    (alias export $errors "error" (type $error))
    (import "wasi:io/streams@0.2.0" (instance $streams
        (alias outer 1 $error (type $outer)) (export "error" (type $e (eq $outer)))
        (type $failed (variant (case "last-operation-failed" (own $e)) (case "closed")))
        (export "stream-error" (type $stream-error (eq $failed)))
        (export "output-stream" (type $output (sub resource)))
        (export "[method]output-stream.check-write" (func
            (param "self" (borrow $output)) (result (result u64 (error $stream-error)))))
        (export "[method]output-stream.write" (func
            (param "self" (borrow $output)) (param "contents" (list u8))
            (result (result (error $stream-error)))))
        (export "[method]output-stream.write-zeroes" (func
            (param "self" (borrow $output)) (param "len" u64) (result (result (error $stream-error)))))))
    (alias export $streams "output-stream" (type $output))
    (import "wasi:cli/stdout@0.2.0" (instance $stdout
        (alias outer 1 $output (type $outer)) (export "output-stream" (type $o (eq $outer)))
        (export "get-stdout" (func (result (own $o))))))
    (import "wasi:cli/environment@0.2.0" (instance $environment
        (export "get-environment" (func (result (list (tuple string string)))))
        (export "get-arguments" (func (result (list string))))
        (export "initial-cwd" (func (result (option string))))))
    (import "wasi:cli/terminal-output@0.2.0" (instance $terminals
        (export "terminal-output" (type $terminal (sub resource)))))
    (alias export $terminals "terminal-output" (type $terminal))
    (import "wasi:cli/terminal-stdout@0.2.0" (instance $terminal-stdout
        (alias outer 1 $terminal (type $outer)) (export "terminal-output" (type $t (eq $outer)))
        (export "get-terminal-stdout" (func (result (option (own $t)))))))
    (import "wasi:filesystem/types@0.2.0" (instance $files (export "descriptor" (type $descriptor (sub resource)))))
    (alias export $files "descriptor" (type $descriptor))
    (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
        (alias outer 1 $descriptor (type $outer)) (export "descriptor" (type $d (eq $outer)))
        (export "get-directories" (func (result (list (tuple (own $d) string)))))))"#;

/// A guest that does this, and says `next`. With `waiting`, it also imports what makes it run on a fiber.
fn limited(body: &str, waiting: &str) -> Vec<u8> {
    let text = format!(
        r#"(component {waiting} {LIMITED}
            (import "edgewright:plugin/types@0.1.0" (instance $types
                (type $header (record (field "name" string) (field "value" (list u8))))
                (export "header" (type $header-line (eq $header)))
                (type $response (record
                    (field "status" u16) (field "headers" (list $header-line)) (field "body" (list u8))))
                (export "response" (type $made (eq $response)))
                (type $verdict (variant (case "next") (case "respond" $made)))
                (export "verdict" (type (eq $verdict)))))
            (alias export $types "verdict" (type $verdict))
            (core module $memory
                (memory (export "memory") 4)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
            (core instance $m (instantiate $memory))
            (alias core export $m "memory" (core memory $memory))
            (alias core export $m "realloc" (core func $realloc))
            (core func $bytes (canon lower (func $random "get-random-bytes")
                (memory $memory) (realloc $realloc)))
            (core func $number (canon lower (func $random "get-random-u64")))
            (core func $now (canon lower (func $clock "now") (memory $memory)))
            (core func $get (canon lower (func $stdout "get-stdout")))
            (core func $check (canon lower (func $streams "[method]output-stream.check-write")
                (memory $memory)))
            (core func $write (canon lower (func $streams "[method]output-stream.write") (memory $memory)))
            (core func $zeroes (canon lower (func $streams "[method]output-stream.write-zeroes")
                (memory $memory)))
            (core func $environ (canon lower (func $environment "get-environment")
                (memory $memory) (realloc $realloc)))
            (core func $arguments (canon lower (func $environment "get-arguments")
                (memory $memory) (realloc $realloc)))
            (core func $cwd (canon lower (func $environment "initial-cwd") (memory $memory) (realloc $realloc)))
            (core func $terminal (canon lower (func $terminal-stdout "get-terminal-stdout") (memory $memory)))
            (core func $directories (canon lower (func $preopens "get-directories")
                (memory $memory) (realloc $realloc)))
            (core func $leave (canon resource.drop $output))
            (core module $code
                (import "m" "memory" (memory 1))
                (import "host" "environ" (func $environ (param i32)))
                (import "host" "arguments" (func $arguments (param i32)))
                (import "host" "cwd" (func $cwd (param i32)))
                (import "host" "terminal" (func $terminal (param i32)))
                (import "host" "directories" (func $directories (param i32)))
                (import "host" "leave" (func $leave (param i32)))
                (import "host" "bytes" (func $bytes (param i64 i32)))
                (import "host" "number" (func $number (result i64)))
                (import "host" "now" (func $now (param i32)))
                (import "host" "get" (func $get (result i32)))
                (import "host" "check" (func $check (param i32 i32)))
                (import "host" "write" (func $write (param i32 i32 i32 i32)))
                (import "host" "zeroes" (func $zeroes (param i32 i64 i32)))
                (func (export "on-request") (param i32) (result i32)
                    (local $stream i32)
                    (local.set $stream (call $get))
                    {body}
                    (i32.const 0)))
            (core instance $guest (instantiate $code (with "m" (instance $m)) (with "host" (instance
                (export "bytes" (func $bytes)) (export "number" (func $number)) (export "now" (func $now))
                (export "get" (func $get)) (export "check" (func $check)) (export "write" (func $write))
                (export "zeroes" (func $zeroes)) (export "environ" (func $environ))
                (export "arguments" (func $arguments)) (export "cwd" (func $cwd))
                (export "terminal" (func $terminal)) (export "directories" (func $directories))
                (export "leave" (func $leave))))))
            (func $f (param "config" u32) (result $verdict)
                (canon lift (core func $guest "on-request") (memory $memory)))
            (instance $i (export "on-request" (func $f)))
            (export "edgewright:plugin/request-filter@0.1.0" (instance $i)))"#
    );
    wat::parse_str(text).expect("the text of a component")
}

/// Nothing interrupts a host call: what one may do is bounded, and so is how many there are.
#[tokio::test]
async fn single_calls_are_bounded_and_counted() {
    async fn check(body: &str, expected: Option<Failure>) {
        let poll = r#"(import "wasi:io/poll@0.2.0" (instance $poll))
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance $monotonic))"#;
        for waiting in ["", poll] {
            let bench = Bench::new();
            let mut spec = bench.spec(&limited(body, waiting));
            // The count is to be met before the time, also on a machine that is busy.
            spec.limits.time = Duration::from_secs(2);
            let failure = match bench.chain(&spec).on_request(&mut request(&[])).await {
                Decision::Next => None,
                Decision::Failed { failure, .. } => Some(failure),
                decision => panic!("{body}: {decision:?}"),
            };
            assert_eq!(failure, expected, "{body}");
        }
    }
    check("(call $bytes (i64.const 65536) (i32.const 64))", None).await;
    check("(call $bytes (i64.const 65537) (i32.const 64))", Some(Failure::Trap)).await;
    check("(call $write (local.get $stream) (i32.const 4096) (i32.const 8192) (i32.const 64))", None).await;
    let trap = Some(Failure::Trap);
    check("(call $write (local.get $stream) (i32.const 4096) (i32.const 8193) (i32.const 64))", trap).await;
    check("(call $zeroes (local.get $stream) (i64.const 8192) (i32.const 64))", None).await;
    check("(call $zeroes (local.get $stream) (i64.const 8193) (i32.const 64))", trap).await;
    check("(call $zeroes (local.get $stream) (i64.const -1) (i32.const 64))", trap).await;
    let limit = Some(Failure::HostCallLimit);
    check("(loop $again (drop (call $number)) (br $again))", limit).await;
    check("(loop $again (call $now (i32.const 64)) (br $again))", limit).await;
    check("(loop $again (call $check (local.get $stream) (i32.const 64)) (br $again))", limit).await;
    check("(loop $again (call $leave (call $get)) (br $again))", limit).await;
    for call in ["environ", "arguments", "cwd", "terminal", "directories"] {
        check(&format!("(loop $again (call ${call} (i32.const 64)) (br $again))"), limit).await;
    }
}
