//! The instances of one plugin, a list for each worker thread: no lock, and no instance changes hands once it is a
//! worker's. What was made ahead of all requests is taken from the [nursery](nursery). A list is borrowed for a moment, never over a call. Where all of a worker's are busy, its calls queue for a
//! while. Must not know how instances are made or called.

mod census;
mod nursery;
mod setback;

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use thread_local::ThreadLocal;

pub use self::census::Census;
use self::census::{Counts, Rolls};
use self::nursery::Nursery;
use self::setback::Setback;
use super::engine::Engine;
use super::epoch::Pulses;
use super::instance::Instance;
use super::metrics::PoolMetrics;
use crate::config::model::{Isolation, Limits};

/// Unused instances that a worker keeps ready for `fresh` calls.
const SPARES: usize = 2;

/// Used `fresh` instances that wait to be taken down off the request's path.
const SPENT: usize = 2;

/// All instances of one plugin.
pub(super) struct Pool {
    workers: ThreadLocal<RefCell<Worker>>,
    nursery: Nursery,
    /// Worker threads that are expected.
    expected: NonZeroUsize,
    rolls: Rolls,
    pulses: Arc<Pulses>,
    isolation: Isolation,
    limits: Limits,
    metrics: PoolMetrics,
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
    /// For the workers of an engine; more threads may come.
    pub(super) fn new(engine: &Engine, isolation: Isolation, limits: Limits, metrics: PoolMetrics) -> Self {
        let expected = engine.workers();
        Self {
            workers: ThreadLocal::with_capacity(expected.get()),
            nursery: Nursery::default(),
            expected,
            rolls: Rolls::default(),
            pulses: Arc::clone(engine.pulses()),
            isolation,
            limits,
            metrics,
        }
    }

    /// An instance for one call, now or not at all.
    pub(super) fn lease(&self) -> Lease {
        let mut worker = self.worker().borrow_mut();
        if let Some(instance) = worker.idle.pop() {
            worker.tell();
            return Lease::Ready(instance);
        }
        let seat = self.seat(&worker).or_else(|| {
            // The seats may be those of used instances that were not taken down yet.
            worker.spent.clear();
            worker.tell();
            self.seat(&worker)
        });
        let Some(seat) = seat else { return Lease::Exhausted };
        match self.nursery.take() {
            Some(mut instance) => {
                instance.adopt(seat, self.pulses.of_this_thread());
                Lease::Ready(instance)
            }
            None => Lease::Build(seat),
        }
    }

    /// How many instances are to be made for the workers to begin with; none, if that was asked before.
    pub(super) fn open_nursery(&self) -> usize {
        let each = match self.isolation {
            Isolation::Reuse => 1,
            Isolation::Fresh => SPARES,
        };
        if self.nursery.open() { self.expected.get() * each.min(self.limits.instances) } else { 0 }
    }

    /// Keeps an instance for the first worker that needs one.
    pub(super) fn nurse(&self, instance: Box<Instance>) {
        self.nursery.put(instance);
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
        self.metrics.waits.observe(began.elapsed());
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
        let mut census = self.rolls.census();
        census.idle += self.nursery.len();
        census
    }

    pub(super) fn metrics(&self) -> &PoolMetrics {
        &self.metrics
    }

    /// After a call that returned. Instances that failed are dropped instead.
    pub(super) fn give_back(&self, instance: Box<Instance>) {
        let mut worker = self.worker().borrow_mut();
        match self.isolation {
            Isolation::Reuse => match instance.worn(&self.limits) {
                None => worker.idle.push(instance),
                Some(worn) => {
                    drop(instance);
                    self.metrics.replaced(worn);
                }
            },
            Isolation::Fresh if worker.spent.len() < SPENT => worker.spent.push(instance),
            Isolation::Fresh => drop(instance),
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
