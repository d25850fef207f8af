//! What plugins cost and how they end: made when a plugin is loaded, so that a call touches atomics only. Must
//! not know calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;

use super::exchange::Failure;
use crate::phase::Phase;

/// Upper bounds of the latency buckets, in microseconds.
const BUCKETS: [u64; 15] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000];

/// The metrics of all plugins.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    latency: Family<PhaseLabels, Latency>,
    calls: Family<OutcomeLabels, Counter>,
    failures: Family<ReasonLabels, Counter>,
    instances: Family<PluginLabels, Gauge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabels {
    plugin: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabels {
    plugin: Arc<str>,
    phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    plugin: Arc<str>,
    phase: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    plugin: Arc<str>,
    reason: &'static str,
}

impl Metrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "plugin_call_duration_seconds",
            "Time of one call of a plugin",
            self.latency.clone(),
        );
        registry.register("plugin_calls", "Calls of plugins by outcome", self.calls.clone());
        registry.register(
            "plugin_failures",
            "Calls of plugins that failed, by reason",
            self.failures.clone(),
        );
        registry.register("plugin_instances", "Instances of plugins, busy and idle", self.instances.clone());
    }

    /// The handles of one plugin, without noughts for phases that it does not have; a plugin that is loaded
    /// again goes on counting.
    pub(super) fn of(&self, plugin: &Arc<str>, phases: &[Phase]) -> PluginMetrics {
        let of_phase = |phase| {
            if phases.contains(&phase) { self.phase(plugin, phase) } else { PhaseMetrics::default() }
        };
        PluginMetrics {
            phases: Phase::ALL.map(of_phase),
            failures: Failure::ALL.map(|failure| {
                let labels = ReasonLabels { plugin: Arc::clone(plugin), reason: failure.name() };
                self.failures.get_or_create(&labels).clone()
            }),
            instances: self.instances.get_or_create(&PluginLabels { plugin: Arc::clone(plugin) }).clone(),
        }
    }

    fn phase(&self, plugin: &Arc<str>, phase: Phase) -> PhaseMetrics {
        let calls = |outcome| {
            let labels = OutcomeLabels { plugin: Arc::clone(plugin), phase: phase.name(), outcome };
            self.calls.get_or_create(&labels).clone()
        };
        let labels = PhaseLabels { plugin: Arc::clone(plugin), phase: phase.name() };
        PhaseMetrics {
            latency: self.latency.get_or_create(&labels).clone(),
            next: calls("next"),
            respond: calls("respond"),
            failed: calls("failed"),
            skipped: calls("skipped"),
        }
    }
}

/// The handles of one plugin.
#[derive(Debug)]
pub(super) struct PluginMetrics {
    phases: [PhaseMetrics; 3],
    failures: [Counter; Failure::ALL.len()],
    pub(super) instances: Gauge,
}

impl PluginMetrics {
    pub(super) fn phase(&self, phase: Phase) -> &PhaseMetrics {
        let [request, response, log] = &self.phases;
        match phase {
            Phase::Request => request,
            Phase::Response => response,
            Phase::Log => log,
        }
    }

    pub(super) fn failed(&self, failure: Failure) {
        let counters = Failure::ALL.iter().zip(&self.failures);
        if let Some((_, counter)) = counters.into_iter().find(|(reason, _)| **reason == failure) {
            counter.inc();
        }
    }
}

/// The handles of one phase of a plugin.
#[derive(Debug, Default)]
pub(super) struct PhaseMetrics {
    pub(super) latency: Latency,
    pub(super) next: Counter,
    pub(super) respond: Counter,
    /// The request was answered with an error.
    pub(super) failed: Counter,
    /// The request went on without the plugin.
    pub(super) skipped: Counter,
}

/// A histogram of durations. The library's takes a lock for each observation.
#[derive(Debug, Clone, Default)]
pub(super) struct Latency(Arc<Observed>);

#[derive(Debug, Default)]
struct Observed {
    /// One more than bounds: what is over the last.
    buckets: [AtomicU64; BUCKETS.len() + 1],
    nanos: AtomicU64,
}

impl Latency {
    pub(super) fn observe(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|bound| nanos <= bound * 1_000).unwrap_or(BUCKETS.len());
        if let Some(bucket) = self.0.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.0.nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl TypedMetric for Latency {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Latency {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let bounds = BUCKETS.iter().map(|&micros| micros as f64 / 1e6).chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = self.0.nanos.load(Ordering::Relaxed) as f64 / 1e9;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_format() {
        let metrics = Metrics::default();
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let handles = metrics.of(&"a".into(), &[Phase::Request, Phase::Response]);
        handles.phase(Phase::Request).latency.observe(Duration::from_nanos(1_500));
        handles.phase(Phase::Request).latency.observe(Duration::from_secs(2));
        handles.phase(Phase::Response).respond.inc();
        handles.failed(Failure::TimeLimit);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a string takes all");
        for line in [
            r#"plugin_call_duration_seconds_bucket{le="0.000001",plugin="a",phase="request-filter"} 0"#,
            r#"plugin_call_duration_seconds_bucket{le="0.000002",plugin="a",phase="request-filter"} 1"#,
            r#"plugin_call_duration_seconds_bucket{le="+Inf",plugin="a",phase="request-filter"} 2"#,
            r#"plugin_call_duration_seconds_sum{plugin="a",phase="request-filter"} 2.0000015"#,
            r#"plugin_calls_total{plugin="a",phase="response-filter",outcome="respond"} 1"#,
            r#"plugin_failures_total{plugin="a",reason="time-limit"} 1"#,
            r#"plugin_instances{plugin="a"} 0"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("log-filter"), "{text}");
    }
}
