//! How many requests are being served: what a shutdown waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counts requests. Cloning shares the count.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: AtomicUsize,
    cut: AtomicUsize,
    draining: AtomicBool,
}

/// One request; counted until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Requests);

impl Requests {
    pub(crate) fn enter(&self) -> InFlight {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        InFlight(self.clone())
    }

    /// From now on, every response says that its connection ends with it.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }

    /// How many were dropped in their middle since this was asked last.
    pub fn take_cut(&self) -> usize {
        self.0.cut.swap(0, Ordering::Relaxed)
    }

    /// How many there are now.
    pub fn count(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }
}

impl InFlight {
    /// Takes note of a request that is dropped in its middle.
    pub(crate) fn is_cut(&self) {
        self.0.0.cut.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the process is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.0.draining.load(Ordering::Relaxed)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}
