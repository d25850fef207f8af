//! How many requests an upstream takes at once, and who waits for a place: first come, first served, for a bounded
//! time and in bounded number. Only upstreams with limits have one. Knows no peers.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::config::model::UpstreamLimits;

use super::NoPeer;

/// The limits of an upstream and who is within them.
#[derive(Debug)]
pub(super) struct Gate {
    limits: UpstreamLimits,
    inside: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
    pub(super) refused: AtomicU64,
}

/// A place within the limits; free again once this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// `None` once it was left.
    gate: Option<Arc<Gate>>,
}

impl Gate {
    /// `None` where there is nothing to limit.
    pub(super) fn of(limits: &UpstreamLimits) -> Option<Arc<Self>> {
        let limited = limits.max_requests.is_some() || limits.max_connections.is_some();
        limited.then(|| {
            Arc::new(Self {
                limits: *limits,
                inside: AtomicUsize::new(0),
                waiting: AtomicUsize::new(0),
                freed: Notify::new(),
                refused: AtomicU64::new(0),
            })
        })
    }

    /// Of one peer, at once. Each request has at most one connection, so these are connections as well.
    pub(super) fn max_connections(&self) -> usize {
        self.limits.max_connections.map_or(usize::MAX, |most| most as usize)
    }

    /// Takes a place, if there is one.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Place> {
        let most = self.limits.max_requests.map_or(usize::MAX, |most| most as usize);
        // Never one too many, not even for a moment: others would find no place that there is.
        let taken = self.inside.fetch_update(SeqCst, SeqCst, |inside| (inside < most).then(|| inside + 1));
        taken.ok().map(|_| Place { gate: Some(Arc::clone(self)) })
    }

    /// How many requests wait for a place.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(SeqCst)
    }

    /// Tries until there is a place, behind those that try already.
    ///
    /// # Errors
    /// [`NoPeer::Full`], where too many wait already or it took too long; what else `take` says.
    pub(super) async fn wait<T>(&self, mut take: impl FnMut() -> Result<T, NoPeer>) -> Result<T, NoPeer> {
        let Some(turn) = Turn::queue(self) else {
            self.refused.fetch_add(1, Relaxed);
            return Err(NoPeer::Full);
        };
        let deadline = Instant::now() + self.limits.pending_timeout;
        let mut is_first = turn.is_first;
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // From here on, no place becomes free unnoticed.
            freed.as_mut().enable();
            if is_first {
                match take() {
                    Err(NoPeer::Full) => {}
                    done => {
                        drop(turn);
                        // Several places may have become free at once, with one notice.
                        self.tell();
                        return done;
                    }
                }
            }
            if timeout_at(deadline, freed).await.is_err() {
                self.refused.fetch_add(1, Relaxed);
                return Err(NoPeer::Full);
            }
            is_first = true;
        }
    }

    fn tell(&self) {
        if self.waiting() > 0 {
            self.freed.notify_one();
        }
    }
}

impl Place {
    /// Gives it back unused. Whoever waits is not told: it would find what this one found.
    pub(super) fn leave(mut self) {
        if let Some(gate) = self.gate.take() {
            gate.inside.fetch_sub(1, SeqCst);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.inside.fetch_sub(1, SeqCst);
            gate.tell();
        }
    }
}

/// Being one of those that wait.
struct Turn<'a> {
    gate: &'a Gate,
    /// Nobody else waited: whoever is first tries before it waits.
    is_first: bool,
}

impl<'a> Turn<'a> {
    fn queue(gate: &'a Gate) -> Option<Self> {
        let before = gate.waiting.fetch_add(1, SeqCst);
        let turn = Self { gate, is_first: before == 0 };
        (before < gate.limits.max_pending as usize).then_some(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.waiting.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn gate(max_requests: u32, max_pending: u32, pending_timeout: Duration) -> Arc<Gate> {
        let limits = UpstreamLimits {
            max_requests: Some(max_requests),
            max_connections: None,
            max_pending,
            pending_timeout,
        };
        Gate::of(&limits).unwrap()
    }

    #[tokio::test]
    async fn places_are_handed_on_to_all_who_wait() {
        let gate = gate(2, 1000, Duration::from_secs(60));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..500 {
            let gate = Arc::clone(&gate);
            tasks.spawn(async move {
                let place = gate.wait(|| gate.enter().ok_or(NoPeer::Full)).await.unwrap();
                assert!(gate.inside.load(SeqCst) <= 2);
                tokio::task::yield_now().await;
                drop(place);
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!((gate.inside.load(SeqCst), gate.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_too_long_or_behind_too_many() {
        let gate = gate(1, 1, Duration::from_secs(1));
        let place = gate.enter().unwrap();
        assert!(gate.enter().is_none());
        let waits = || gate.wait(|| gate.enter().ok_or(NoPeer::Full));
        let (first, second) = tokio::join!(waits(), waits());
        assert_eq!((first.unwrap_err(), second.unwrap_err()), (NoPeer::Full, NoPeer::Full));
        assert_eq!(gate.refused.load(Relaxed), 2);
        drop(place);
        assert!(waits().await.is_ok());
    }

    #[test]
    fn without_limits_there_is_no_gate() {
        let limits = UpstreamLimits {
            max_requests: None,
            max_connections: None,
            max_pending: 1,
            pending_timeout: Duration::ZERO,
        };
        assert!(Gate::of(&limits).is_none());
    }
}
