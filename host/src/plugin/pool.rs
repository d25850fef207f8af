//! The instances of one plugin, a list for each worker thread: no lock, and no instance ever changes hands. A
//! list is borrowed for a moment, never over a call. Where all of a worker's are busy, its calls queue for a
//! while. Must not know how instances are made or called.

mod census;
mod setback;

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use thread_local::ThreadLocal;

pub use self::census::Census;
use self::census::{Counts, Rolls};
use self::setback::Setback;
use super::instance::Instance;
use crate::config::model::{Isolation, Limits};
use crate::observe::histogram::Histogram;

/// Unused instances that a worker keeps ready for `fresh` calls.
const SPARES: usize = 2;

/// Used `fresh` instances that wait to be taken down off the request's path.
const SPENT: usize = 2;

/// All instances of one plugin.
pub(super) struct Pool {
    workers: ThreadLocal<RefCell<Worker>>,
    rolls: Rolls,
    isolation: Isolation,
    limits: Limits,
    /// How long calls queued.
    waits: Histogram,
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
    counts: Arc<Counts>,
    building: bool,
}

/// Instances are boxed: each call moves one out of its list and back.
#[allow(clippy::vec_box, reason = "a pointer is moved, not some hundred bytes")]
struct Worker {
    /// Last in, first out: the warmest memory is used, and what a peak left over stays cold.
    idle: Vec<Box<Instance>>,
    spent: Vec<Box<Instance>>,
    counts: Arc<Counts>,
    setback: Setback,
}

impl Pool {
    /// For `workers` threads; more may come.
    pub(super) fn new(workers: NonZeroUsize, isolation: Isolation, limits: Limits, waits: Histogram) -> Self {
        let workers = ThreadLocal::with_capacity(workers.get());
        Self { workers, rolls: Rolls::default(), isolation, limits, waits }
    }

    /// An instance for one call, now or not at all.
    pub(super) fn lease(&self) -> Lease {
        let mut worker = self.worker().borrow_mut();
        if let Some(instance) = worker.idle.pop() {
            worker.tell();
            return Lease::Ready(instance);
        }
        match self.seat(&worker) {
            Some(seat) => Lease::Build(seat),
            None => {
                // The seats may be those of used instances that were not taken down yet.
                worker.spent.clear();
                worker.tell();
                self.seat(&worker).map_or(Lease::Exhausted, Lease::Build)
            }
        }
    }

    /// After [`Lease::Exhausted`]: the same, as soon as one is free, or exhausted at the end of the queue's time.
    /// Whoever gives up waiting, or is dropped, passes its turn on.
    pub(super) async fn queue(&self) -> Lease {
        if self.limits.queue.is_zero() {
            return Lease::Exhausted;
        }
        let began = Instant::now();
        let counts = Arc::clone(&self.worker().borrow().counts);
        let _waiting = counts.wait();
        let found = tokio::time::timeout(self.limits.queue, self.turn(&counts)).await;
        self.waits.observe(began.elapsed());
        found.unwrap_or(Lease::Exhausted)
    }

    async fn turn(&self, counts: &Counts) -> Lease {
        loop {
            let freed = counts.freed();
            match self.lease() {
                Lease::Exhausted => freed.await,
                found => return found,
            }
        }
    }

    /// What there is, over all workers.
    pub(super) fn census(&self) -> Census {
        self.rolls.census()
    }

    /// How long calls queued where all instances of their worker were busy.
    pub(super) fn waits(&self) -> &Histogram {
        &self.waits
    }

    /// After a call that returned. Instances that failed are dropped instead.
    pub(super) fn give_back(&self, instance: Box<Instance>) {
        let mut worker = self.worker().borrow_mut();
        match self.isolation {
            Isolation::Reuse if !instance.is_worn(&self.limits) => worker.idle.push(instance),
            Isolation::Fresh if worker.spent.len() < SPENT => worker.spent.push(instance),
            Isolation::Reuse | Isolation::Fresh => drop(instance),
        }
        worker.tell();
        worker.counts.pass_on();
    }

    /// Takes used instances down, and says whether an unused one is wanted.
    pub(super) fn tidy_up(&self) -> Option<Seat> {
        if self.isolation == Isolation::Reuse {
            return None;
        }
        let mut worker = self.worker().borrow_mut();
        worker.spent.clear();
        worker.tell();
        if worker.idle.len() >= SPARES { None } else { self.seat(&worker) }
    }

    /// Keeps an unused instance for a later call.
    pub(super) fn stock(&self, instance: Box<Instance>) {
        let mut worker = self.worker().borrow_mut();
        worker.idle.push(instance);
        worker.tell();
        worker.counts.pass_on();
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
        self.workers.get_or(|| {
            RefCell::new(Worker {
                idle: Vec::new(),
                spent: Vec::new(),
                counts: self.rolls.enter(),
                setback: Setback::default(),
            })
        })
    }

    fn seat(&self, worker: &Worker) -> Option<Seat> {
        let counts = &worker.counts;
        // Only this thread takes seats of this worker.
        if counts.taken.load(Ordering::Relaxed) >= self.limits.instances {
            return None;
        }
        counts.taken.fetch_add(1, Ordering::Relaxed);
        counts.building.fetch_add(1, Ordering::Relaxed);
        Some(Seat { counts: Arc::clone(counts), building: true })
    }
}

impl Worker {
    /// Lets others see how many instances wait for work.
    fn tell(&self) {
        self.counts.idle.store(self.idle.len() + self.spent.len(), Ordering::Relaxed);
    }
}

impl Seat {
    /// The instance is made.
    pub(super) fn occupied(mut self) -> Self {
        self.is_built();
        self
    }

    fn is_built(&mut self) {
        if std::mem::take(&mut self.building) {
            self.counts.building.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.is_built();
        self.counts.taken.fetch_sub(1, Ordering::Relaxed);
        self.counts.pass_on();
    }
}
