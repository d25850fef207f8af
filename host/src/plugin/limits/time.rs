//! The time limit of a call: CPU time, so that a thread that the system took the CPU from is not mistaken for
//! a guest that loops.
//!
//! A call that ends before the next tick reads no clock. At the first tick that finds it still running, which
//! is within [`LOOK`](super::super::epoch::LOOK), the thread's CPU clock is sampled; at the ones after, each
//! [`TICK`](super::super::epoch::TICK), the call is ended when it used its limit since then. So a guest that
//! computes is cut between its limit and 6 ms more, later only where the ticker itself is kept from the CPU. On a fiber, the guest yields to its worker at each tick, and only its own slices count.
//! The worker looks at its sockets before the guest goes on: others wait for a tick, not for the guest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wasmtime::UpdateDeadline;

use super::Stopped;
use crate::plugin::epoch::{Pulse, Running};

/// Ticks until a call is looked at for the first time.
pub(in crate::plugin) const FIRST_LOOK: u64 = 1;

/// What a call may take in wall time beyond its CPU time: it may wait for the CPU, or for the host.
const WAITING: Duration = Duration::from_secs(1);

/// CPU time of making an instance, and of telling it a configuration: it holds the worker on the path of a
/// request. The same when a plugin is loaded, so that one that needs more is refused there.
pub(in crate::plugin) const SETUP: Duration = Duration::from_millis(100);

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) struct TimeLimit {
    cpu: Duration,
    ends_as: Stopped,
}

impl TimeLimit {
    /// Of making an instance, and of telling it a configuration.
    pub(in crate::plugin) const SETUP: TimeLimit = TimeLimit { cpu: SETUP, ends_as: Stopped::SetupTime };

    /// Of a call of a phase.
    pub(in crate::plugin) fn of_call(cpu: Duration) -> Self {
        Self { cpu, ends_as: Stopped::TimeLimit }
    }

    /// The most that the call may take by the clock on the wall.
    pub(in crate::plugin) fn wall(self) -> Duration {
        self.cpu.saturating_add(WAITING)
    }
}

/// Whether the guest runs on its worker's own stack or on a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum Stack {
    Worker,
    Fiber,
}

/// When the guest's current slice of CPU began; shared with the future that polls its fiber.
#[derive(Debug)]
pub(in crate::plugin) struct Slice {
    pulse: Arc<Pulse>,
    watched: AtomicBool,
    began: AtomicU64,
}

impl Slice {
    /// The worker is in the guest until what this returns is dropped.
    pub(in crate::plugin) fn running(&self) -> Running<'_> {
        self.pulse.enter()
    }

    /// The fiber is polled: from here on, the CPU is the guest's. Reads the clock only for calls that were
    /// found running at a tick.
    pub(in crate::plugin) fn resume(&self) {
        if self.watched.load(Ordering::Relaxed) {
            self.began.store(cpu_nanos(), Ordering::Relaxed);
        }
    }
}

/// Watches over the running call of one instance.
#[derive(Debug)]
pub(in crate::plugin) struct Watch {
    stack: Stack,
    limit: TimeLimit,
    slice: Arc<Slice>,
    first_look: Option<Instant>,
    used: u64,
}

impl Watch {
    /// For an instance on the thread of `pulse`.
    pub(in crate::plugin) fn new(stack: Stack, pulse: Arc<Pulse>) -> Self {
        let slice = Slice { pulse, watched: AtomicBool::new(false), began: AtomicU64::new(0) };
        Self { stack, limit: TimeLimit::SETUP, slice: Arc::new(slice), first_look: None, used: 0 }
    }

    /// The instance moves to the thread of `pulse`. Not while it runs.
    pub(in crate::plugin) fn move_to(&mut self, pulse: Arc<Pulse>) {
        self.slice = Arc::new(Slice { pulse, watched: AtomicBool::new(false), began: AtomicU64::new(0) });
    }

    pub(in crate::plugin) fn slice(&self) -> Arc<Slice> {
        Arc::clone(&self.slice)
    }

    /// A call begins. The store's deadline must be set to [`FIRST_LOOK`] beside it.
    pub(in crate::plugin) fn begin(&mut self, limit: TimeLimit) {
        self.limit = limit;
        self.first_look = None;
        self.used = 0;
        self.slice.watched.store(false, Ordering::Relaxed);
    }

    /// The epoch's deadline found the guest running.
    ///
    /// # Errors
    /// The call used up its time and must end.
    pub(in crate::plugin) fn tick(&mut self) -> wasmtime::Result<UpdateDeadline> {
        let now = cpu_nanos();
        if let Some(first_look) = self.first_look {
            let began = self.slice.began.load(Ordering::Relaxed);
            self.used = self.used.saturating_add(now.saturating_sub(began));
            if u128::from(self.used) >= self.limit.cpu.as_nanos() || first_look.elapsed() > self.limit.wall()
            {
                return Err(wasmtime::Error::new(self.limit.ends_as));
            }
        } else {
            self.first_look = Some(Instant::now());
            self.slice.watched.store(true, Ordering::Relaxed);
        }
        self.slice.began.store(now, Ordering::Relaxed);
        Ok(match self.stack {
            Stack::Worker => UpdateDeadline::Continue(1),
            // Wasmtime's own `Yield` goes straight back into the run queue, and tokio looks at sockets and
            // timers only when that is empty, or every 61 polls: other requests would wait for 61 slices.
            // `yield_now` comes back after the driver was polled.
            Stack::Fiber => UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())),
        })
    }
}

/// What this thread used of the CPU so far, in nanoseconds.
fn cpu_nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
