//! How many requests are being served: what a shutdown waits for, and operators see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Counts requests. Cloning shares the count.
#[derive(Debug, Clone)]
pub struct Requests(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: Gauge,
    cut: AtomicUsize,
    draining: AtomicBool,
}

/// One request; counted until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Requests);

impl Requests {
    /// Registers `edgewright_requests_in_flight`.
    pub fn register(registry: &mut Registry) -> Self {
        let shared = Shared::default();
        registry.register(
            "edgewright_requests_in_flight",
            "Requests that came and are not in the access log yet",
            shared.count.clone(),
        );
        Self(Arc::new(shared))
    }

    pub(crate) fn enter(&self) -> InFlight {
        self.0.count.inc();
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
        usize::try_from(self.0.count.get()).unwrap_or(0)
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
        self.0.0.count.dec();
    }
}
