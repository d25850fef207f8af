//! Compiling in a child process. The child is this executable again, so this test has no harness: `main` is
//! the child's or the test's, as the proxy's is.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that can't go on has failed")]

#[path = "plugin/guest.rs"]
#[allow(dead_code, reason = "the other tests use more of it")]
mod guest;

use std::num::NonZeroUsize;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use edgewright::config::model::{Body, Grants, Isolation, Limits, OnFailure, Quarantine};
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
    a_child_is_bounded_and_ends_with_its_parent();
    ExitCode::SUCCESS
}

/// It waits for a component that does not come. What goes away is the thread that spawned it: to the system, the
/// parent.
fn a_child_is_bounded_and_ends_with_its_parent() {
    let spawned = std::thread::Builder::new().spawn(|| {
        let mut child = Command::new("/proc/self/exe")
            .arg(COMPILE_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a child");
        let file = format!("/proc/{}/limits", child.id());
        let deadline = Instant::now() + Duration::from_secs(20);
        let bounded = |limits: &str, name: &str, value: &str| {
            let line = limits.lines().find_map(|line| line.strip_prefix(name)).expect("a limit");
            line.split_whitespace().next() == Some(value)
        };
        loop {
            let limits = std::fs::read_to_string(&file).expect("the limits of the child");
            if bounded(&limits, "Max address space", "2147483648") && bounded(&limits, "Max cpu time", "60") {
                break;
            }
            assert!(Instant::now() < deadline, "{:?}: not bounded: {limits}", child.try_wait());
            std::thread::yield_now();
        }
        assert!(child.try_wait().expect("a child").is_none(), "it waits");
        child
    });
    let mut child = spawned.expect("a thread").join().expect("a child");
    // Its pipe is still open: nothing but the signal ends it.
    let stdin = child.stdin.take();
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().expect("our child");
            panic!("it outlives its parent");
        }
        std::thread::yield_now();
    };
    drop(stdin);
    assert_eq!(status.signal(), Some(9), "{status}");
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
        limits: Limits {
            time: Duration::from_millis(10),
            memory: 1 << 20,
            instances: 1,
            queue: Duration::ZERO,
            calls: 1_000,
            kept_memory: 1 << 20,
        },
        quarantine: Quarantine {
            failures: None,
            window: Duration::from_secs(10),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
        },
        grants: Grants::default(),
        body: Body::default(),
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
