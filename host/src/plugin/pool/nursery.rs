//! Instances that were made before any worker asked: when a plugin is loaded, away from traffic. A worker that
//! has none takes one of them, and from then on it is the worker's. Must not know how they are made.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::plugin::instance::Instance;

/// Unused instances of no worker.
#[derive(Default)]
#[allow(clippy::vec_box, reason = "a pointer is moved, not some hundred bytes")]
pub(super) struct Nursery {
    /// So that workers don't lock for nothing.
    ready: AtomicUsize,
    instances: Mutex<Vec<Box<Instance>>>,
    opened: AtomicBool,
}

impl Nursery {
    /// Whether this is the first time that somebody wants to fill it.
    pub(super) fn open(&self) -> bool {
        !self.opened.swap(true, Ordering::Relaxed)
    }

    pub(super) fn put(&self, instance: Box<Instance>) {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        instances.push(instance);
        self.ready.store(instances.len(), Ordering::Release);
    }

    pub(super) fn take(&self) -> Option<Box<Instance>> {
        if self.len() == 0 {
            return None;
        }
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        let instance = instances.pop();
        self.ready.store(instances.len(), Ordering::Release);
        instance
    }

    pub(super) fn len(&self) -> usize {
        self.ready.load(Ordering::Acquire)
    }
}
