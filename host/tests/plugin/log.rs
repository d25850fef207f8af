//! What the runtime writes about a plugin, and the log in memory that tests read it from.

use std::io;
use std::sync::{Arc, Mutex};

use edgewright::plugin::exchange::Decision;
use tracing::subscriber::DefaultGuard;

use crate::guest::Guest;
use crate::request::{Bench, request};

#[tokio::test]
async fn a_trap_is_one_line_with_the_functions_of_the_guest() {
    let lines = Lines::default();
    let _capture = lines.capture();
    let bench = Bench::new();
    let guest = Guest {
        on_request: Some("(call $outer) (i32.const 0)"),
        items: "(func $inner unreachable) (func $outer (call $inner))",
        ..Guest::default()
    };
    let chain = bench.chain(&bench.spec(&guest.build()));
    assert!(matches!(chain.on_request(&mut request(&[])).await, Decision::Failed { .. }));
    let text = lines.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    for part in [
        "ERROR plugin: plugin failed plugin=\"guest\" phase=\"request-filter\" reason=\"trap\" request=\"0123\"",
        "detail=wasm trap: wasm `unreachable` instruction executed",
        "backtrace=inner < outer < function",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[tokio::test]
async fn failures_are_not_logged_without_end() {
    let lines = Lines::default();
    let _capture = lines.capture();
    let bench = Bench::new();
    let chain =
        bench.chain(&bench.spec(&Guest { on_request: Some("unreachable"), ..Guest::default() }.build()));
    for _ in 0..1_000 {
        chain.on_request(&mut request(&[])).await;
    }
    let count = lines.text().lines().count();
    // 100 a second, in however many seconds it took.
    assert!((100..1_000).contains(&count), "{count} lines");
}

/// A log in memory.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// Takes what this thread logs, until the guard is dropped.
    pub(crate) fn capture(&self) -> DefaultGuard {
        let lines = self.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || lines.clone());
        tracing::subscriber::set_default(log.finish())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("a log").clone()).expect("text")
    }
}
