//! Logs that nobody takes: traffic goes on, what is lost is counted, and the end comes all the same.

use std::time::{Duration, Instant};

use edgewright_tests::{DEADLINE, Origin, Setup, get, guest, wait_for};
use rustix::fs::{CWD, FileType, Mode, mknodat};

#[test]
fn a_standard_error_that_nobody_reads_holds_nothing_up() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("threads = 1\ngrace = \"60s\"")
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start_unread();
    let mut client = proxy.connect();
    for _ in 0..50 {
        assert_eq!(client.ask(&get("/x").header("X-Boom", "1")).status, 503);
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    assert_eq!(proxy.access_log(100).len(), 100, "the access log goes elsewhere");
    let _ = proxy.terminate(DEADLINE).expect_code(0);
}

#[test]
fn lines_that_a_full_device_refuses_are_counted() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("grace = \"60s\"")
        .access_log("path = \"/dev/full\"")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let mut client = proxy.connect();
    for _ in 0..20 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    wait_for(DEADLINE, "20 lines to be counted", || {
        let dropped = proxy.metrics().sum("edgewright_access_log_dropped_lines_total", &[]);
        (dropped - 20.0).abs() < f64::EPSILON
    });
    assert!(proxy.metrics().sum("edgewright_access_log_write_errors_total", &[]) >= 1.0);
    let said = proxy.wait_for_log("lines of a log can't be written");
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(said.matches("lines of a log can't be written").count(), 1, "once a minute: {said}");
    assert_eq!(client.ask(&get("/x")).status, 200);
    let _ = proxy.terminate(DEADLINE).expect_code(0);
}

#[test]
fn a_pipe_without_a_reader_is_a_clear_error_at_once() {
    let origin = Origin::ok();
    let setup = Setup::new()
        .access_log("path = \"access.pipe\"")
        .upstream("main", &origin)
        .route("default", "", "main");
    mknodat(CWD, setup.directory().join("access.pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .expect("a named pipe");
    let start = Instant::now();
    let finished = setup.run_to_end().expect_code(1);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let said = finished.said();
    assert!(said.contains("`access.pipe` is a named pipe"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
