//! The ticker: moves the engine's epoch, so that guests notice that time went by. The only thread that the
//! plugin runtime keeps. Must not know what the epoch is used for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::EngineWeak;

/// One tick. Time limits are exact to about two of them.
pub const TICK: Duration = Duration::from_millis(1);

/// Moves the epoch once a [`TICK`] while it runs.
pub struct Ticker {
    engine: EngineWeak,
    running: Arc<AtomicUsize>,
}

/// A ticker on its thread: it stops when this is dropped, or when the engine is gone.
#[derive(Debug)]
pub struct Ticking {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(super) fn new(engine: EngineWeak, running: Arc<AtomicUsize>) -> Self {
        Self { engine, running }
    }

    /// Starts the ticker on a thread of its own. Not before a process forks into the background.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(self) -> io::Result<Ticking> {
        let (stop, stopped) = mpsc::channel::<()>();
        self.running.fetch_add(1, Ordering::Relaxed);
        let running = Arc::clone(&self.running);
        let thread = thread::Builder::new().name("epoch".into()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
                let Some(engine) = self.engine.upgrade() else { break };
                engine.increment_epoch();
            }
            self.running.fetch_sub(1, Ordering::Relaxed);
        });
        if thread.is_err() {
            running.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(Ticking { stop: Some(stop), thread: Some(thread?) })
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the ticker was reported by the panic hook already.
            let _ = thread.join();
        }
    }
}
