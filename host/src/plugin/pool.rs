//! The instances of one plugin, a list for each worker thread: no lock, and no instance ever changes hands. A
//! list is borrowed for a moment, never over a call. Must not know how instances are made or called.

mod setback;

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use prometheus_client::metrics::gauge::Gauge;
use thread_local::ThreadLocal;

use self::setback::Setback;
use super::instance::Instance;
use crate::config::model::Isolation;

/// Unused instances that a worker keeps ready for `fresh` calls.
const SPARES: usize = 2;

/// Used `fresh` instances that wait to be taken down off the request's path.
const SPENT: usize = 2;

/// All instances of one plugin.
pub(super) struct Pool {
    workers: ThreadLocal<RefCell<Worker>>,
    isolation: Isolation,
    /// Instances that one worker may have.
    limit: usize,
    gauge: Gauge,
}

/// What the pool says to someone who wants an instance.
pub(super) enum Lease {
    /// Use this one.
    Ready(Box<Instance>),
    /// Make one for this seat.
    Build(Seat),
    /// All are busy.
    Exhausted,
}

/// A place in a worker's count of instances; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    taken: Arc<AtomicUsize>,
    gauge: Gauge,
}

/// Instances are boxed: each call moves one out of its list and back.
#[allow(clippy::vec_box, reason = "a pointer is moved, not some hundred bytes")]
#[derive(Default)]
struct Worker {
    /// Last in, first out: the warmest memory is used, and what a peak left over stays cold.
    idle: Vec<Box<Instance>>,
    spent: Vec<Box<Instance>>,
    taken: Arc<AtomicUsize>,
    setback: Setback,
}

impl Pool {
    /// For `workers` threads; more may come.
    pub(super) fn new(workers: NonZeroUsize, isolation: Isolation, limit: usize, gauge: Gauge) -> Self {
        Self { workers: ThreadLocal::with_capacity(workers.get()), isolation, limit, gauge }
    }

    /// An instance for one call.
    pub(super) fn lease(&self) -> Lease {
        let mut worker = self.worker().borrow_mut();
        if let Some(instance) = worker.idle.pop() {
            return Lease::Ready(instance);
        }
        match self.seat(&worker) {
            Some(seat) => Lease::Build(seat),
            None => {
                // The seats may be those of used instances that were not taken down yet.
                let spent = std::mem::take(&mut worker.spent);
                drop(spent);
                self.seat(&worker).map_or(Lease::Exhausted, Lease::Build)
            }
        }
    }

    /// After a call that returned. Instances that failed are dropped instead.
    pub(super) fn give_back(&self, instance: Box<Instance>) {
        let mut worker = self.worker().borrow_mut();
        match self.isolation {
            Isolation::Reuse if !instance.is_worn() => worker.idle.push(instance),
            Isolation::Fresh if worker.spent.len() < SPENT => worker.spent.push(instance),
            Isolation::Reuse | Isolation::Fresh => drop(instance),
        }
    }

    /// Takes used instances down, and says whether an unused one is wanted.
    pub(super) fn tidy_up(&self) -> Option<Seat> {
        if self.isolation == Isolation::Reuse {
            return None;
        }
        let mut worker = self.worker().borrow_mut();
        worker.spent.clear();
        if worker.idle.len() >= SPARES { None } else { self.seat(&worker) }
    }

    /// Keeps an unused instance for a later call.
    pub(super) fn stock(&self, instance: Box<Instance>) {
        self.worker().borrow_mut().idle.push(instance);
    }

    /// Whether this worker may set an instance up, or leaves that off for a while.
    pub(super) fn may_set_up(&self) -> bool {
        self.worker().borrow_mut().setback.admits(Instant::now())
    }

    /// An instance was set up.
    pub(super) fn was_set_up(&self) {
        self.worker().borrow_mut().setback = Setback::default();
    }

    /// An instance could not be set up.
    pub(super) fn was_not_set_up(&self) {
        self.worker().borrow_mut().setback.add(Instant::now());
    }

    fn worker(&self) -> &RefCell<Worker> {
        self.workers.get_or_default()
    }

    fn seat(&self, worker: &Worker) -> Option<Seat> {
        // Only this thread takes seats of this worker.
        if worker.taken.load(Ordering::Relaxed) >= self.limit {
            return None;
        }
        worker.taken.fetch_add(1, Ordering::Relaxed);
        self.gauge.inc();
        Some(Seat { taken: Arc::clone(&worker.taken), gauge: self.gauge.clone() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
        self.gauge.dec();
    }
}
