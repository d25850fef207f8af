//! A hostile guest for each limit: the limit fires, the request is back, and the next call is fine.

use std::time::{Duration, Instant};

use edgewright::config::model::{Isolation, Limits, OnFailure};
use edgewright::plugin::exchange::{Decision, Failure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::guest::{COPY, FORBID, Guest, LOOP, LOOP_IF_ASKED, NEXT, SEEN};
use crate::request::{Bench, cursed, header, request};

/// A call of a guest, and what it must come to.
async fn check(bench: &Bench, name: &str, guest: &Guest<'_>, expected: Failure) {
    let chain = bench.chain(&bench.spec(&guest.build()));
    let mut lent = request(&[]);
    let decision = chain.on_request(&mut lent).await;
    let Decision::Failed { by, failure } = decision else { panic!("{name}: {decision:?}") };
    assert_eq!((&*by, failure), ("guest", expected), "{name}");
    assert_eq!(lent.exchange().expect("the exchange is back").calls.len(), 1, "{name}");
}

#[tokio::test]
async fn p01_p04_p05_p06_p13_limits() {
    let bench = Bench::new();
    let hostile = |body: &'static str| Guest { on_request: Some(body), ..Guest::default() };
    check(&bench, "trap", &hostile("unreachable"), Failure::Trap).await;
    check(&bench, "loop", &hostile(LOOP), Failure::TimeLimit).await;
    let bulk = "(loop $again (memory.fill (i32.const 0) (i32.const 0) (i32.const 131072)) (br $again))
        (i32.const 0)";
    check(&bench, "bulk operations", &hostile(bulk), Failure::TimeLimit).await;
    let grow = "(drop (memory.grow (i32.const 15))) unreachable";
    check(&bench, "memory", &hostile(grow), Failure::MemoryLimit).await;
    let recursion = Guest {
        on_request: Some("(call $deeper (i32.const 1))"),
        items: "(func $deeper (param i32) (result i32)
            (i32.add (local.get 0) (call $deeper (i32.add (local.get 0) (i32.const 1)))))",
        ..Guest::default()
    };
    check(&bench, "stack", &recursion, Failure::StackLimit).await;
    let flood = "(loop $again (call $get (i32.const 1048) (i32.const 4) (i32.const 128)) (br $again))
        (i32.const 0)";
    // With time enough: on a busy machine, that would be over first.
    let mut patient = bench.spec(&hostile(flood).build());
    patient.limits.time = Duration::from_secs(5);
    let decision = bench.chain(&patient).on_request(&mut request(&[])).await;
    let expected = matches!(decision, Decision::Failed { failure: Failure::HostCallLimit, .. });
    assert!(expected, "host calls: {decision:?}");
    let status = "(i32.store8 (i32.const 64) (i32.const 1)) (i32.store16 (i32.const 68) (i32.const 101))
        (i32.const 64)";
    check(&bench, "status", &hostile(status), Failure::BadResponse).await;
    // A list of headers whose names all are the same 60,000 bytes: far more than the guest has memory.
    let overlap = "(local $i i32)
        (loop $again
            (i32.store (i32.add (i32.const 4096) (i32.mul (local.get $i) (i32.const 16))) (i32.const 4096))
            (i32.store (i32.add (i32.const 4100) (i32.mul (local.get $i) (i32.const 16))) (i32.const 60000))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (i32.const 5000))))
        (i32.store8 (i32.const 64) (i32.const 1)) (i32.store16 (i32.const 68) (i32.const 200))
        (i32.store (i32.const 72) (i32.const 4096)) (i32.store (i32.const 76) (i32.const 5000))
        (i32.const 64)";
    check(&bench, "overlapping lists", &hostile(overlap), Failure::Trap).await;
    let large = "(drop (memory.grow (i32.const 80)))
        (i32.store8 (i32.const 64) (i32.const 1)) (i32.store16 (i32.const 68) (i32.const 200))
        (i32.store (i32.const 84) (i32.const BYTES))
        (i32.const 64)";
    for bytes in ["1048577", "5000000"] {
        let body = large.replace("BYTES", bytes);
        let guest = Guest { on_request: Some(&body), ..Guest::default() };
        let mut spec = bench.spec(&guest.build());
        spec.limits.memory = 8 << 20;
        let decision = bench.chain(&spec).on_request(&mut request(&[])).await;
        let expected = matches!(decision, Decision::Failed { failure: Failure::BadResponse, .. });
        assert!(expected, "a body of {bytes} bytes: {decision:?}");
    }
    check(&bench, "verdict out of bounds", &hostile("(i32.const -8)"), Failure::Trap).await;
}

#[tokio::test]
async fn p05_a_refused_growth_is_no_failure() {
    let bench = Bench::new();
    let body = "(if (i32.ne (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable)) (i32.const 0)";
    let chain = bench.chain(&bench.spec(&Guest { on_request: Some(body), ..Guest::default() }.build()));
    assert!(matches!(chain.on_request(&mut request(&[])).await, Decision::Next));
}

#[tokio::test]
async fn p07_tables_are_bounded_too() {
    let bench = Bench::new();
    let grow = |elements: u32| {
        format!(
            "(if (i32.eq (table.grow $t (ref.null func) (i32.const {elements})) (i32.const -1)) (then unreachable))"
        )
    };
    for (elements, fits) in [(9_000, true), (20_000, false)] {
        let body = format!("{} (i32.const 0)", grow(elements));
        let guest = Guest { on_request: Some(&body), items: "(table $t 1 funcref)", ..Guest::default() };
        let decision = bench.chain(&bench.spec(&guest.build())).on_request(&mut request(&[])).await;
        assert_eq!(matches!(decision, Decision::Next), fits, "{elements}: {decision:?}");
    }
}

#[tokio::test]
async fn p03_a_loop_costs_one_request_and_its_limit() {
    let bench = Bench::new();
    for time in [Duration::from_millis(5), Duration::from_millis(10), Duration::from_millis(40)] {
        let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
        spec.limits.time = time;
        let chain = bench.chain(&spec);
        // A busy machine is late with its ticks: what the limit promises must hold in the best of some calls.
        let mut soonest = Duration::MAX;
        for _ in 0..8 {
            let before = cpu();
            let mut lent = request(&[("x-in", "1")]);
            let decision = chain.on_request(&mut lent).await;
            let used = cpu() - before;
            assert!(matches!(decision, Decision::Failed { failure: Failure::TimeLimit, .. }), "{decision:?}");
            assert!(used >= time, "{time:?}: cut after {used:?}");
            soonest = soonest.min(used);
            assert_eq!(header(&lent, "x-in"), Some("1"));
            let mut lent = request(&[]);
            assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
            assert_eq!(header(&lent, "x-seen"), Some("yes"));
        }
        assert!(soonest <= time + Duration::from_millis(4), "{time:?}: cut after {soonest:?}");
    }
}

#[tokio::test]
async fn a_thread_without_cpu_is_no_loop() {
    let bench = Bench::new();
    let chain = bench.chain(&bench.spec(&Guest { on_request: Some(COPY), ..Guest::default() }.build()));
    let mut stalled = crate::request::stalled(Duration::from_millis(60));
    let began = Instant::now();
    assert!(matches!(chain.on_request(&mut stalled).await, Decision::Next));
    assert!(began.elapsed() >= Duration::from_millis(60));
}

#[tokio::test]
async fn p03_a_loop_on_a_fiber_starves_nobody() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits.time = Duration::from_millis(50);
    let plugin = bench.load(&spec).expect("a plugin");
    assert!(plugin.waits());
    let chain = bench.chain(&spec);
    let mut looping = request(&[("x-in", "1")]);
    let mut others = 0;
    let mut worst = Duration::ZERO;
    let decision = {
        let mut call = std::pin::pin!(chain.on_request(&mut looping));
        loop {
            let began = Instant::now();
            tokio::select! {
                biased;
                () = tokio::task::yield_now() => {}
                decision = &mut call => break decision,
            }
            let mut lent = request(&[]);
            assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
            assert_eq!(header(&lent, "x-seen"), Some("yes"));
            others += 1;
            worst = worst.max(began.elapsed());
        }
    };
    assert!(matches!(decision, Decision::Failed { failure: Failure::TimeLimit, .. }), "{decision:?}");
    assert_eq!(header(&looping, "x-in"), Some("1"));
    assert!(others >= 20, "{others} calls beside the loop");
}

/// A worker's sockets are looked at between the slices of a fiber, and not each 61 of them.
#[tokio::test]
async fn a_loop_on_a_fiber_leaves_time_for_sockets() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits.time = Duration::from_millis(400);
    let chain = bench.chain(&spec);
    let (mut near, mut far) = tokio::net::UnixStream::pair().expect("two sockets");
    let echo = tokio::spawn(async move {
        while let Ok(byte) = far.read_u8().await {
            far.write_u8(byte).await.expect("a socket");
        }
    });
    let looping = tokio::spawn(async move { chain.on_request(&mut request(&[("x-in", "1")])).await });
    let mut round_trips = 0;
    while !looping.is_finished() {
        near.write_u8(1).await.expect("a socket");
        near.read_u8().await.expect("an echo");
        round_trips += 1;
    }
    let decision = looping.await.expect("a decision");
    assert!(matches!(decision, Decision::Failed { failure: Failure::TimeLimit, .. }), "{decision:?}");
    drop(near);
    echo.await.expect("the other end");
    // 400 slices and two of them for each: six, if sockets waited for 61 slices.
    assert!(round_trips >= 30, "{round_trips} round trips beside the loop");
}

#[tokio::test]
async fn all_instances_are_busy() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits = Limits { time: Duration::from_millis(20), instances: 1, ..spec.limits };
    for isolation in [Isolation::Reuse, Isolation::Fresh] {
        spec.isolation = isolation;
        let chain = bench.chain(&spec);
        let mut first = request(&[("x-in", "1")]);
        let mut second = request(&[]);
        let (first, second) = tokio::join!(chain.on_request(&mut first), chain.on_request(&mut second));
        assert!(matches!(first, Decision::Failed { failure: Failure::TimeLimit, .. }), "{first:?}");
        assert!(matches!(second, Decision::Failed { failure: Failure::PoolExhausted, .. }), "{second:?}");
        for _ in 0..3 {
            assert!(matches!(chain.on_request(&mut request(&[])).await, Decision::Next));
        }
    }
}

#[tokio::test]
async fn c53_a_call_that_is_dropped_frees_its_instance() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(LOOP_IF_ASKED), ..Guest::default() }.build());
    spec.limits = Limits { time: Duration::from_millis(500), instances: 1, ..spec.limits };
    let chain = bench.chain(&spec);
    let mut lent = request(&[("x-in", "1")]);
    tokio::select! {
        biased;
        decision = chain.on_request(&mut lent) => panic!("{decision:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(lent.exchange().is_none(), "it went with the instance");
    assert!(matches!(chain.on_request(&mut request(&[])).await, Decision::Next));
}

#[tokio::test]
async fn p29_a_bug_of_the_host_costs_one_request() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest { on_request: Some(COPY), ..Guest::default() }.build());
    for time in [Duration::from_millis(10), Duration::from_millis(20)] {
        spec.limits.time = time;
        let chain = bench.chain(&spec);
        let mut lent = cursed();
        let decision = chain.on_request(&mut lent).await;
        assert!(matches!(decision, Decision::Failed { failure: Failure::HostPanic, .. }), "{decision:?}");
        assert!(lent.exchange().is_some());
        let mut lent = request(&[("x-in", "1")]);
        assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
        assert_eq!(header(&lent, "x-out"), Some("1"));
    }
}

#[tokio::test]
async fn open_plugins_are_skipped() {
    let bench = Bench::new();
    let edit_then_trap = "(call $set (i32.const 1024) (i32.const 6) (i32.const 1032) (i32.const 3)
        (i32.const 128)) unreachable";
    let mut spec = bench.spec(&Guest { on_request: Some(edit_then_trap), ..Guest::default() }.build());
    spec.on_failure = OnFailure::Open;
    let chain = bench.chain(&spec);
    let mut lent = request(&[]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
    assert_eq!(header(&lent, "x-seen"), Some("yes"), "what was changed before the trap stays");
}

#[tokio::test]
async fn failures_are_counted() {
    let bench = Bench::new();
    let mut registry = prometheus_client::registry::Registry::default();
    bench.engine.register(&mut registry);
    let chain =
        bench.chain(&bench.spec(&Guest { on_request: Some("unreachable"), ..Guest::default() }.build()));
    for _ in 0..3 {
        chain.on_request(&mut request(&[])).await;
    }
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).expect("a string takes all");
    for line in [
        r#"plugin_calls_total{plugin="guest",phase="request-filter",outcome="failed"} 3"#,
        r#"plugin_failures_total{plugin="guest",reason="trap"} 3"#,
        r#"plugin_instances{plugin="guest",state="idle"} 0"#,
        r#"plugin_instances{plugin="guest",state="busy"} 0"#,
        r#"plugin_instances{plugin="guest",state="building"} 0"#,
        r#"plugin_memory_peak_bytes{plugin="guest"} 131072"#,
        r#"plugin_quarantined{plugin="guest",phase="request-filter"} 0"#,
        r#"plugin_info{plugin="guest",version=""#,
        r#"plugin_call_duration_seconds_count{plugin="guest",phase="request-filter"} 3"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    for (body, outcome) in [(NEXT, "next"), (FORBID, "respond"), (SEEN, "next")] {
        let chain = bench.chain(&bench.spec(&Guest { on_request: Some(body), ..Guest::default() }.build()));
        chain.on_request(&mut request(&[])).await;
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a string takes all");
        let line = format!("phase=\"request-filter\",outcome=\"{outcome}\"}} 0");
        assert!(!text.contains(&line), "{line} is in\n{text}");
    }
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.expect("a time"), nanos.expect("a time"))
}
