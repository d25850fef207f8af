//! The mirror of a route: its settings, how many copies are under way, and what became of the others. Knows
//! nothing of how copies are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::config::model::Mirror as Settings;

/// What became of a request that was to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MirrorOutcome {
    /// The mirror answered, whatever it said.
    Answered,
    /// The mirror could not be reached, or broke the connection.
    Failed,
    /// The mirror took too long.
    TimedOut,
    /// Too many copies were under way: it was not sent.
    Overload,
    /// Its body was too large: it was not sent.
    TooLarge,
    /// The upstream has no peer: it was not sent.
    NoPeer,
}

const OUTCOMES: [(MirrorOutcome, &str); 6] = [
    (MirrorOutcome::Answered, "answered"),
    (MirrorOutcome::Failed, "failed"),
    (MirrorOutcome::TimedOut, "timed-out"),
    (MirrorOutcome::Overload, "overload"),
    (MirrorOutcome::TooLarge, "too-large"),
    (MirrorOutcome::NoPeer, "no-peer"),
];

/// A route's mirror.
#[derive(Debug)]
pub struct Mirror {
    pub settings: Settings,
    under_way: AtomicUsize,
    outcomes: [Counter; 6],
}

/// A copy that is under way, until it is dropped.
#[derive(Debug)]
pub struct Slot(Arc<Mirror>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    route: String,
    outcome: &'static str,
}

/// The counts of all mirrors.
#[derive(Clone, Default)]
pub(super) struct MirrorFamily(Family<Labels, Counter>);

impl MirrorFamily {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let family = Self::default();
        registry.register(
            "edgewright_mirrored_requests",
            "Requests that were to be copied to a mirror, by route and outcome",
            family.0.clone(),
        );
        family
    }

    /// Forgets a route that there is no more.
    pub(super) fn forget(&self, route: &str) {
        for (_, outcome) in OUTCOMES {
            self.0.remove(&Labels { route: route.to_owned(), outcome });
        }
    }

    pub(super) fn of(&self, route: &str, settings: &Settings) -> Arc<Mirror> {
        let counter =
            |(_, outcome)| self.0.get_or_create(&Labels { route: route.to_owned(), outcome }).clone();
        Arc::new(Mirror {
            settings: settings.clone(),
            under_way: AtomicUsize::new(0),
            outcomes: OUTCOMES.map(counter),
        })
    }
}

impl Mirror {
    /// Room for one more copy; `None` where there is none.
    pub fn enter(self: &Arc<Self>) -> Option<Slot> {
        let before = self.under_way.fetch_add(1, Ordering::Relaxed);
        // Taken back by its drop where it is one too many.
        let slot = Slot(Arc::clone(self));
        (before < self.settings.concurrency).then_some(slot)
    }

    pub fn count(&self, outcome: MirrorOutcome) {
        let at = OUTCOMES.iter().position(|(known, _)| *known == outcome);
        if let Some(counter) = at.and_then(|at| self.outcomes.get(at)) {
            counter.inc();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::ids::UpstreamId;

    use super::*;

    #[test]
    fn copies_under_way_are_bounded() {
        let settings = Settings {
            upstream: UpstreamId(0),
            share: 100,
            max_body: 0,
            timeout: Duration::from_secs(1),
            concurrency: 2,
        };
        let mirror = MirrorFamily::default().of("a", &settings);
        let first = mirror.enter();
        let second = mirror.enter();
        assert!(first.is_some() && second.is_some());
        assert!(mirror.enter().is_none());
        assert!(mirror.enter().is_none());
        drop(first);
        assert!(mirror.enter().is_some());
    }
}
