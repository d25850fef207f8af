//! How many instances there are and what they do: each worker keeps its own counts, and whoever asks adds them
//! up. A busy instance is one that is neither idle nor being made. Must not know instances.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The instances of a plugin at a moment, over all workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Made, and free for a call.
    pub idle: usize,
    /// In a call.
    pub busy: usize,
    /// Being made.
    pub building: usize,
    /// Calls that wait for an instance.
    pub queued: usize,
}

/// One worker's counts. Written by that worker, read by anyone.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Seats in use: all instances, those being made included.
    pub(super) taken: AtomicUsize,
    pub(super) idle: AtomicUsize,
    pub(super) building: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
}

/// A call in the queue; out of it when this is dropped.
pub(super) struct Waiting(Arc<Counts>);

impl Counts {
    /// Enters the queue.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(Arc::clone(self))
    }

    /// Ends once something is free again, in the order of those who ask. From now on: what becomes free before
    /// it is awaited counts.
    pub(super) fn freed(&self) -> Pin<Box<Notified<'_>>> {
        let mut freed = Box::pin(self.freed.notified());
        freed.as_mut().enable();
        freed
    }

    /// Something is free: it's the turn of the first in the queue.
    pub(super) fn pass_on(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.freed.notify_one();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The counts of all workers. A worker enters once; the lock is not on the path of a request.
#[derive(Debug, Default)]
pub(super) struct Rolls(Mutex<Vec<Arc<Counts>>>);

impl Rolls {
    pub(super) fn enter(&self) -> Arc<Counts> {
        let counts = Arc::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&counts));
        counts
    }

    pub(super) fn census(&self) -> Census {
        let workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Census::default();
        for counts in workers.iter() {
            let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
            let (idle, building) = (read(&counts.idle), read(&counts.building));
            all.idle += idle;
            all.building += building;
            // The counts are not of one moment.
            all.busy += read(&counts.taken).saturating_sub(idle + building);
            all.queued += read(&counts.waiting);
        }
        all
    }
}
