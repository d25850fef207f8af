//! How many requests are being served: what a shutdown waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts requests. Cloning shares the count.
#[derive(Debug, Clone, Default)]
pub struct Requests(Arc<AtomicUsize>);

/// One request; counted until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Requests);

impl Requests {
    pub(crate) fn enter(&self) -> InFlight {
        self.0.fetch_add(1, Ordering::Relaxed);
        InFlight(self.clone())
    }

    /// How many there are now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
