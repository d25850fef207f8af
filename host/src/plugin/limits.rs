//! The limits of an instance and of a call: memory, tables, host calls, and [time](time). Knows nothing of
//! requests.

pub(super) mod time;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::ResourceLimiter;

/// Elements of one table.
pub(super) const TABLE_ELEMENTS: usize = 10_000;

/// Core instances and tables of one component: adapters and libraries make some.
const PARTS: usize = 100;

/// Linear memories of one component.
const MEMORIES: usize = 4;

/// Host calls of one call, those of WASI included: WIT `request`.
const HOST_CALLS: u32 = 10_000;

/// Bytes that one host call or verdict may hand to the host: the largest body, and room for its headers. Lists
/// of a guest may overlap, so its memory is no bound.
pub(super) const HOST_CALL_BYTES: usize = 4 << 20;

/// How much an instance may hold, and hand over at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Bytes of linear memory.
    pub(super) memory: usize,
    /// Bytes that one host call or verdict may hand to the host.
    pub(super) transfer: usize,
}

/// A limit that ended a call from the host's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stopped {
    #[error("the call used up its time; a larger `limits.time` in the manifest allows more")]
    TimeLimit,
    #[error("it used more than {} ms of CPU time, which is all that starting or configuring an instance may take",
        time::SETUP.as_millis())]
    SetupTime,
    #[error("the call made more than {HOST_CALLS} host calls")]
    HostCallLimit,
}

/// What one instance may take, and what it took.
#[derive(Debug)]
pub(super) struct Limits {
    memory_limit: usize,
    memory: usize,
    memory_refused: bool,
    host_calls: u32,
    peak: Arc<Peak>,
}

/// The most linear memory that any instance of a plugin had, in bytes.
#[derive(Debug, Default)]
pub(super) struct Peak(AtomicUsize);

impl Peak {
    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Limits {
    /// `memory_limit` in bytes, over all linear memories of the instance.
    pub(super) fn new(memory_limit: usize, peak: &Arc<Peak>) -> Self {
        let peak = Arc::clone(peak);
        Self { memory_limit, memory: 0, memory_refused: false, host_calls: HOST_CALLS, peak }
    }

    /// A call begins.
    pub(super) fn begin(&mut self) {
        self.host_calls = HOST_CALLS;
        self.memory_refused = false;
    }

    /// Counts one host call.
    ///
    /// # Errors
    /// The budget is used up; the call must end.
    pub(super) fn charge(&mut self) -> wasmtime::Result<()> {
        match self.host_calls.checked_sub(1) {
            Some(left) => {
                self.host_calls = left;
                Ok(())
            }
            None => Err(wasmtime::Error::new(Stopped::HostCallLimit)),
        }
    }

    /// Whether the running call asked for more memory than it may have.
    pub(super) fn memory_refused(&self) -> bool {
        self.memory_refused
    }

    /// What the instance has, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.memory_limit {
            self.memory_refused = true;
            return Ok(false);
        }
        self.memory = total;
        self.peak.0.fetch_max(total, Ordering::Relaxed);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
