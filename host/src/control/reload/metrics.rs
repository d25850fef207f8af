//! What is counted of reloads. Knows nothing of how one is done.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::report::Outcome;

/// The metrics of reloads.
#[derive(Debug, Clone)]
pub struct ReloadMetrics {
    reloads: Family<OutcomeLabel, Counter>,
    generation: Gauge,
    since: Gauge,
    draining: Gauge,
    rolled_back: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

impl ReloadMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            reloads: Family::default(),
            generation: Gauge::default(),
            since: Gauge::default(),
            draining: Gauge::default(),
            rolled_back: Counter::default(),
        };
        // An alert on a rate needs the nought before the first one.
        for outcome in Outcome::ALL {
            let _ = metrics.reloads.get_or_create(&OutcomeLabel { outcome: outcome.name() });
        }
        registry.register(
            "edgewright_reloads",
            "Reloads of the configuration by outcome",
            metrics.reloads.clone(),
        );
        registry.register(
            "edgewright_config_generation",
            "The generation that serves new requests",
            metrics.generation.clone(),
        );
        registry.register(
            "edgewright_config_generation_timestamp_seconds",
            "When that generation began to serve",
            metrics.since.clone(),
        );
        registry.register(
            "edgewright_generations_draining",
            "Earlier generations that still serve requests which began in them",
            metrics.draining.clone(),
        );
        registry.register(
            "edgewright_rollouts_taken_back",
            "Rollouts that were stopped because the new plugin failed too often",
            metrics.rolled_back.clone(),
        );
        metrics
    }

    /// A reload is done.
    pub(super) fn count(&self, outcome: Outcome) {
        self.reloads.get_or_create(&OutcomeLabel { outcome: outcome.name() }).inc();
    }

    /// A generation serves from now on.
    pub fn serves(&self, generation: u64) {
        self.generation.set(i64::try_from(generation).unwrap_or(i64::MAX));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.since.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    }

    pub(super) fn rolled_back(&self) {
        self.rolled_back.inc();
    }

    pub(super) fn draining(&self, generations: usize) {
        self.draining.set(i64::try_from(generations).unwrap_or(i64::MAX));
    }
}
