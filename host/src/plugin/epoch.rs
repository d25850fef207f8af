//! The ticker: moves the engine's epoch, so that guests notice that time went by. The only thread that the
//! plugin runtime keeps. A tick wakes a thread, which costs more than many a call: so the ticker looks often only
//! while it finds a guest running, and not at all when none was for a while. Must not know what the epoch is
//! used for.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use thread_local::ThreadLocal;
use wasmtime::EngineWeak;

/// One tick while a guest was found running. Time limits are exact to about two of these and a look (4 ms).
pub const TICK: Duration = Duration::from_millis(1);

/// One tick while no guest was found running: the longest time before a call is noticed. At 1 kHz, the ticker
/// itself would be a tenth of what a plugin costs on a busy worker.
pub(super) const LOOK: Duration = Duration::from_millis(4);

/// Looks without a single call before the ticker rests: one second.
const LOOKS_BEFORE_REST: u32 = 250;

/// Who runs guests, and whether anyone watches.
#[derive(Debug, Default)]
pub(super) struct Pulses {
    workers: ThreadLocal<Arc<Pulse>>,
    rest: Arc<Rest>,
    tickers: AtomicUsize,
}

/// Of one thread: odd while it runs a guest, and another number each time.
#[derive(Debug)]
pub(super) struct Pulse {
    beats: AtomicU64,
    rest: Arc<Rest>,
}

/// The thread runs a guest, until this is dropped.
pub(super) struct Running<'a>(&'a Pulse);

/// Whether the ticker rests, and how to wake it.
#[derive(Debug, Default)]
struct Rest {
    resting: AtomicBool,
    /// Locked where a ticker starts or ends, and by the first call after a rest.
    ticker: Mutex<Option<Thread>>,
}

impl Pulses {
    /// That of the current thread.
    pub(super) fn of_this_thread(&self) -> Arc<Pulse> {
        let new = || Arc::new(Pulse { beats: AtomicU64::new(0), rest: Arc::clone(&self.rest) });
        Arc::clone(self.workers.get_or(new))
    }

    /// Whether a ticker moves the epoch.
    pub(super) fn are_watched(&self) -> bool {
        self.tickers.load(Ordering::Relaxed) > 0
    }

    fn look(&self) -> Sight {
        let mut sight = Sight { beats: 0, running: false };
        for pulse in &self.workers {
            // In one order with `Rest::resting`: see `Pulse::enter`.
            let beats = pulse.beats.load(Ordering::SeqCst);
            sight.beats = sight.beats.wrapping_add(beats);
            sight.running |= beats % 2 == 1;
        }
        sight
    }
}

/// What the ticker saw at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sight {
    /// Of all threads together: the same at two looks if there was no call between them.
    beats: u64,
    running: bool,
}

impl Pulse {
    /// The thread enters a guest. Wakes a ticker that rests.
    ///
    /// Either this sees that the ticker rests, or the ticker, which looks once more after it said so, sees this.
    pub(super) fn enter(&self) -> Running<'_> {
        self.beats.fetch_add(1, Ordering::SeqCst);
        if self.rest.resting.load(Ordering::SeqCst) {
            self.rest.end();
        }
        Running(self)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.beats.fetch_add(1, Ordering::Release);
    }
}

impl Rest {
    fn end(&self) {
        self.resting.store(false, Ordering::SeqCst);
        if let Some(thread) = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            thread.unpark();
        }
    }
}

/// Moves the epoch while it runs.
pub struct Ticker {
    engine: EngineWeak,
    pulses: Arc<Pulses>,
}

/// A ticker on its thread: it stops when this is dropped, or when the engine is gone.
#[derive(Debug)]
pub struct Ticking {
    pulses: Arc<Pulses>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(super) fn new(engine: EngineWeak, pulses: Arc<Pulses>) -> Self {
        Self { engine, pulses }
    }

    /// Starts the ticker on a thread of its own. Not before a process forks into the background. One at a time
    /// for an engine: a second one may rest through the calls that the first one looks at.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(self) -> io::Result<Ticking> {
        let stop = Arc::new(AtomicBool::new(false));
        let pulses = Arc::clone(&self.pulses);
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name("epoch".into()).spawn(move || self.tick(&stopped))?;
        pulses.tickers.fetch_add(1, Ordering::Relaxed);
        *pulses.rest.ticker.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread.thread().clone());
        Ok(Ticking { pulses, stop, thread: Some(thread) })
    }

    fn tick(&self, stopped: &AtomicBool) {
        let mut before = self.pulses.look();
        let mut quiet = 0;
        while !stopped.load(Ordering::Acquire) {
            // Parked rather than asleep, so that the end need not wait.
            thread::park_timeout(if before.running { TICK } else { LOOK });
            let Some(engine) = self.engine.upgrade() else { break };
            engine.increment_epoch();
            drop(engine);
            let now = self.pulses.look();
            quiet = if now == before && !now.running { quiet + 1 } else { 0 };
            if quiet >= LOOKS_BEFORE_REST {
                self.rest(now, stopped);
                quiet = 0;
            }
            before = now;
        }
    }

    /// Waits for a call.
    fn rest(&self, seen: Sight, stopped: &AtomicBool) {
        let resting = &self.pulses.rest.resting;
        resting.store(true, Ordering::SeqCst);
        if self.pulses.look() != seen {
            resting.store(false, Ordering::SeqCst);
        }
        while resting.load(Ordering::SeqCst) && !stopped.load(Ordering::Acquire) {
            thread::park();
        }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.pulses.rest.end();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the ticker was reported by the panic hook already.
            let _ = thread.join();
        }
        self.pulses.tickers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_seen_while_it_runs_and_told_from_the_next_one() {
        let pulses = Pulses::default();
        let pulse = pulses.of_this_thread();
        let before = pulses.look();
        assert!(!before.running);
        let running = pulse.enter();
        let during = pulses.look();
        assert!(during.running);
        drop(running);
        let after = pulses.look();
        assert!(!after.running);
        assert_ne!(before.beats, after.beats);
    }

    #[test]
    fn a_call_ends_a_rest() {
        let pulses = Pulses::default();
        let pulse = pulses.of_this_thread();
        pulses.rest.resting.store(true, Ordering::SeqCst);
        drop(pulse.enter());
        assert!(!pulses.rest.resting.load(Ordering::SeqCst));
    }
}
