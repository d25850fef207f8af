//! Compiling in a child process. The child is this executable again, so this test has no harness: `main` is
//! the child's or the test's, as the proxy's is.
#![allow(clippy::expect_used, reason = "a test that can't go on has failed")]

#[path = "plugin/guest.rs"]
#[allow(dead_code, reason = "the other tests use more of it")]
mod guest;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use edgewright::config::model::{Isolation, Limits, OnFailure};
use edgewright::phase::Phase;
use edgewright::plugin::{
    COMPILE_ARGUMENT, Compiler, Engine, EngineOptions, LoadReason, Plugin, PluginSpec, compile_child,
};
use tempfile::TempDir;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(COMPILE_ARGUMENT) {
        return compile_child();
    }
    a_child_compiles();
    ExitCode::SUCCESS
}

fn a_child_compiles() {
    let dir = TempDir::new().expect("a directory");
    let workers = NonZeroUsize::MIN;
    let options = EngineOptions { workers, cache: None, compiler: Compiler::Child };
    let engine = Engine::new(&options).expect("an engine");
    let good = guest::Guest { on_request: Some(guest::COPY), ..guest::Guest::default() }.build();
    let mut spec = PluginSpec {
        name: "guest".into(),
        file: dir.path().join("good.wasm"),
        isolation: Isolation::Reuse,
        on_failure: OnFailure::Closed,
        limits: Limits { time: Duration::from_millis(10), memory: 1 << 20, instances: 1 },
        sha256: None,
    };
    std::fs::write(&spec.file, &good).expect("a file");
    let plugin = Plugin::load(&engine, &spec).expect("a plugin");
    assert_eq!(plugin.phases(), [Phase::Request]);
    assert!(!plugin.cached());

    // The first instruction of a function that never validates: the names are those of a plugin all the same.
    let mut bad = good;
    let at = bad.windows(4).rposition(|bytes| bytes == [0x41, 0x80, 0x20, 0x24]).expect("`i32.const 4096`");
    *bad.get_mut(at).expect("a byte") = 0x01;
    spec.file = dir.path().join("bad.wasm");
    std::fs::write(&spec.file, &bad).expect("a file");
    let error = Plugin::load(&engine, &spec).expect_err("it does not compile");
    assert!(matches!(&error.reason, LoadReason::Compile(_)), "{error}");
    assert!(!error.to_string().contains('\n'), "one line: {error}");
}
