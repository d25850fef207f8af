//! Running guest code away from traffic, when a plugin is loaded: on a thread and a runtime of its own, with a
//! clock of its own where no ticker runs yet. Must not know what is probed.

use std::future::Future;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use super::engine::Engine;
use super::epoch::TICK;

/// Runs `work` to its end. Blocks; fine on any thread, also on one of a runtime.
///
/// # Errors
/// The system gives no thread, or `work` panicked.
pub(super) fn run<T: Send>(engine: &Engine, work: impl Future<Output = T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let (running, finished) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("plugin-probe".into()).spawn_scoped(scope, move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            let result = runtime.block_on(work);
            drop(running);
            Ok(result)
        })?;
        while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(TICK) {
            if !engine.pulses().are_watched() {
                engine.wasmtime().increment_epoch();
            }
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the probe panicked")))
    })
}
