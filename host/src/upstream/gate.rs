//! How many requests an upstream takes at once, and who waits for a place: first come, first served, for a bounded
//! time and in bounded number. Knows no peers.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::config::model::UpstreamLimits;

use super::NoPeer;

/// The limits of an upstream, and who is within them.
#[derive(Debug)]
pub(super) struct Gate {
    limits: UpstreamLimits,
    crowd: Arc<Crowd>,
}

/// Those within and before the limits. Outlives them: a later configuration may have others.
#[derive(Debug, Default)]
struct Crowd {
    inside: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
    refused: AtomicU64,
}

/// A place within the limits; free again once this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// `None` once it was left.
    crowd: Option<Arc<Crowd>>,
}

impl Gate {
    pub(super) fn of(limits: &UpstreamLimits) -> Self {
        Self { limits: *limits, crowd: Arc::default() }
    }

    pub(super) fn limits_something(&self) -> bool {
        self.limits.max_requests.is_some() || self.limits.max_connections.is_some()
    }

    /// Has the requests of an earlier gate within these limits.
    pub(super) fn inherit(&mut self, earlier: &Gate) {
        self.crowd = Arc::clone(&earlier.crowd);
    }

    /// How many requests were refused.
    pub(super) fn refused(&self) -> u64 {
        self.crowd.refused.load(Relaxed)
    }

    /// Of one peer, at once. Each request has at most one connection, so these are connections as well.
    pub(super) fn max_connections(&self) -> usize {
        self.limits.max_connections.map_or(usize::MAX, |most| most as usize)
    }

    /// Takes a place, if there is one.
    pub(super) fn enter(&self) -> Option<Place> {
        let most = self.limits.max_requests.map_or(usize::MAX, |most| most as usize);
        // Never one too many, not even for a moment: others would find no place that there is.
        let more = |inside: usize| (inside < most).then(|| inside + 1);
        let taken = self.crowd.inside.fetch_update(SeqCst, SeqCst, more);
        taken.ok().map(|_| Place { crowd: Some(Arc::clone(&self.crowd)) })
    }

    /// How many requests wait for a place.
    pub(super) fn waiting(&self) -> usize {
        self.crowd.waiting.load(SeqCst)
    }

    /// Tries until there is a place, behind those that try already.
    ///
    /// # Errors
    /// [`NoPeer::Full`], where too many wait already or it took too long; what else `take` says.
    pub(super) async fn wait<T>(&self, mut take: impl FnMut() -> Result<T, NoPeer>) -> Result<T, NoPeer> {
        let Some(turn) = Turn::queue(self) else {
            self.crowd.refused.fetch_add(1, Relaxed);
            return Err(NoPeer::Full);
        };
        let deadline = Instant::now() + self.limits.pending_timeout;
        let mut is_first = turn.is_first;
        loop {
            let mut freed = std::pin::pin!(self.crowd.freed.notified());
            // From here on, no place becomes free unnoticed.
            freed.as_mut().enable();
            if is_first {
                match take() {
                    Err(NoPeer::Full) => {}
                    done => {
                        drop(turn);
                        // Several places may have become free at once, with one notice.
                        self.crowd.tell();
                        return done;
                    }
                }
            }
            if timeout_at(deadline, freed).await.is_err() {
                self.crowd.refused.fetch_add(1, Relaxed);
                return Err(NoPeer::Full);
            }
            is_first = true;
        }
    }
}

impl Crowd {
    fn tell(&self) {
        if self.waiting.load(SeqCst) > 0 {
            self.freed.notify_one();
        }
    }
}

impl Place {
    /// Gives it back unused. Whoever waits is not told: it would find what this one found.
    pub(super) fn leave(mut self) {
        if let Some(crowd) = self.crowd.take() {
            crowd.inside.fetch_sub(1, SeqCst);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(crowd) = self.crowd.take() {
            crowd.inside.fetch_sub(1, SeqCst);
            crowd.tell();
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
        let before = gate.crowd.waiting.fetch_add(1, SeqCst);
        let turn = Self { gate, is_first: before == 0 };
        (before < gate.limits.max_pending as usize).then_some(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.crowd.waiting.fetch_sub(1, SeqCst);
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
        Arc::new(Gate::of(&limits))
    }

    #[tokio::test]
    async fn places_are_handed_on_to_all_who_wait() {
        let gate = gate(2, 1000, Duration::from_secs(60));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..500 {
            let gate = Arc::clone(&gate);
            tasks.spawn(async move {
                let place = gate.wait(|| gate.enter().ok_or(NoPeer::Full)).await.unwrap();
                assert!(gate.crowd.inside.load(SeqCst) <= 2);
                tokio::task::yield_now().await;
                drop(place);
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!((gate.crowd.inside.load(SeqCst), gate.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_too_long_or_behind_too_many() {
        let gate = gate(1, 1, Duration::from_secs(1));
        let place = gate.enter().unwrap();
        assert!(gate.enter().is_none());
        let waits = || gate.wait(|| gate.enter().ok_or(NoPeer::Full));
        let (first, second) = tokio::join!(waits(), waits());
        assert_eq!((first.unwrap_err(), second.unwrap_err()), (NoPeer::Full, NoPeer::Full));
        assert_eq!(gate.refused(), 2);
        drop(place);
        assert!(waits().await.is_ok());
    }

    #[test]
    fn without_limits_nothing_is_limited() {
        let limits = UpstreamLimits {
            max_requests: None,
            max_connections: None,
            max_pending: 1,
            pending_timeout: Duration::ZERO,
        };
        assert!(!Gate::of(&limits).limits_something());
    }

    #[tokio::test]
    async fn who_is_inside_counts_for_later_limits() {
        let earlier = gate(2, 5, Duration::from_secs(60));
        let (first, second) = (earlier.enter().unwrap(), earlier.enter().unwrap());
        let mut later = Gate::of(&UpstreamLimits { max_requests: Some(1), ..earlier.limits });
        later.inherit(&earlier);
        drop(first);
        assert!(later.enter().is_none(), "one is there yet");
        let waits = later.wait(|| later.enter().ok_or(NoPeer::Full));
        let (place, ()) = tokio::join!(waits, async { drop(second) });
        assert!(place.is_ok(), "who leaves by the earlier limits tells who waits for the later ones");
    }
}
