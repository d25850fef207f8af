//! A hostile guest for each limit: the limit fires, and the next request is fine.

use edgewright_tests::{Ask, DEADLINE, Origin, Proxy, Setup, get, guest};

fn hostile(name: &str, manifest: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1\ngrace = \"60s\"")
        .plugin(name, &guest(name), manifest)
        .upstream("main", origin)
        .route_all(&format!("[\"{name}\"]"), "main")
        .start()
}

/// The request is ended for that reason, and the same connection's next one passes; three times.
fn fires(name: &str, manifest: &str, request: &Ask, reason: &str) {
    for isolation in ["fresh", "reuse"] {
        let origin = Origin::ok();
        let proxy = hostile(name, &format!("isolation = \"{isolation}\"\n{manifest}"), &origin);
        let mut client = proxy.connect();
        for _ in 0..3 {
            let ended = client.ask(request);
            assert_eq!(ended.status, 503, "{name}, {isolation}");
            assert!(ended.head.has("x-request-id"), "{name}, {isolation}");
            assert_eq!(client.ask(&get("/fine")).status, 200, "{name}, {isolation}");
        }
        assert_eq!(origin.requests().len(), 3, "{name}, {isolation}");
        let metrics = proxy.metrics_at_rest();
        let counted =
            metrics.sum("edgewright_plugin_failures_total", &[("plugin", name), ("reason", reason)]);
        assert!((counted - 3.0).abs() < f64::EPSILON, "{name}, {isolation}: {counted} for {reason}");
        let lines = proxy.access_log(6);
        let line = lines.iter().find(|line| line["status"] == 503).expect("a line");
        assert_eq!((&line["error"], &line["decided-by"]), (&reason.into(), &name.into()), "{isolation}");
    }
}

#[test]
fn p03_a_loop_is_cut_and_the_next_request_is_fine() {
    fires("spin", "limits = { time = \"20ms\" }", &get("/x").header("X-Loop", "1"), "time-limit");
}

#[test]
fn p05_memory_is_capped() {
    fires(
        "grow",
        "limits = { memory = \"4MiB\", time = \"1s\" }",
        &get("/x").header("X-Grow", "take"),
        "memory-limit",
    );
}

#[test]
fn p06_recursion_ends_at_the_stack_limit() {
    fires("stack", "limits = { time = \"1s\" }", &get("/x").header("X-Deep", "1"), "stack-limit");
}

#[test]
fn p13_a_flood_of_host_calls_ends_at_the_budget() {
    fires("flood", "limits = { time = \"5s\" }", &get("/x").header("X-Calls", "20000"), "host-call-limit");
}

#[test]
fn the_budget_of_host_calls_is_enough_for_honest_work() {
    let origin = Origin::ok();
    let proxy = hostile("flood", "limits = { time = \"5s\" }", &origin);
    assert_eq!(proxy.ask(&get("/x").header("X-Calls", "9000")).status, 200);
}

#[test]
fn p05_a_guest_that_asks_for_memory_is_refused_and_goes_on() {
    let origin = Origin::ok();
    let proxy = hostile("grow", "limits = { memory = \"4MiB\", time = \"1s\" }", &origin);
    assert_eq!(proxy.ask(&get("/x").header("X-Grow", "ask")).status, 200);
    let got: u64 = origin.last().field("x-got").and_then(|kib| kib.parse().ok()).expect("a number");
    assert!((1024..=4096).contains(&got), "{got} KiB of 4 MiB");
}

#[test]
fn p03_loops_starve_nobody_and_do_not_hold_up_the_end() {
    let origin = Origin::ok();
    let proxy = hostile("spin", "limits = { time = \"20ms\" }", &origin);
    let spin = get("/x").header("X-Loop", "1");
    std::thread::scope(|scope| {
        let loops: Vec<_> = (0..8).map(|_| scope.spawn(|| proxy.ask(&spin).status)).collect();
        let mut client = proxy.connect();
        for _ in 0..50 {
            assert_eq!(client.ask(&get("/fine")).status, 200);
        }
        for ended in loops {
            assert_eq!(ended.join().expect("a status"), 503);
        }
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Whether it is answered or cut off is no matter: it must not keep the proxy alive.
            let mut client = proxy.connect();
            client.send(spin.bytes());
            let _ = client.try_response_to("GET");
        });
    });
    // Long before the end of the grace.
    let _ = proxy.terminate(DEADLINE).expect_code(0);
}
