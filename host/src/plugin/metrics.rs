//! What plugins cost and how they end: made when a plugin is loaded, so that a call touches atomics only. Must
//! not know calls.

mod live;

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use self::live::Live;
use super::exchange::Failure;
use super::instance::Worn;
use super::loaded::Plugin;
use crate::observe::histogram::{CALL_BOUNDS, Histogram, WAIT_BOUNDS};
use crate::phase::Phase;

/// The metrics of all plugins.
#[derive(Debug)]
pub(super) struct Metrics {
    latency: Family<PhaseLabels, Histogram, fn() -> Histogram>,
    calls: Family<OutcomeLabels, Counter>,
    failures: Family<ReasonLabels, Counter>,
    waits: Family<PluginLabels, Histogram, fn() -> Histogram>,
    replaced: Family<ReasonLabels, Counter>,
    quarantines: Family<PhaseLabels, Counter>,
    live: Live,
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

/// Why an instance is replaced, as it is counted.
const WORN: [&str; 2] = ["calls", "memory"];

/// How a call ends, as it is counted.
const OUTCOMES: [&str; 5] = ["next", "respond", "failed", "skipped", "retry"];

impl Default for Metrics {
    fn default() -> Self {
        Self {
            latency: Family::new_with_constructor(call_histogram),
            calls: Family::default(),
            failures: Family::default(),
            waits: Family::new_with_constructor(wait_histogram),
            replaced: Family::default(),
            quarantines: Family::default(),
            live: Live::default(),
        }
    }
}

fn wait_histogram() -> Histogram {
    Histogram::new(WAIT_BOUNDS)
}

fn call_histogram() -> Histogram {
    Histogram::new(CALL_BOUNDS)
}

impl Metrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "edgewright_plugin_call_duration_seconds",
            "Time of one call of a plugin",
            self.latency.clone(),
        );
        registry.register("edgewright_plugin_calls", "Calls of plugins by outcome", self.calls.clone());
        registry.register(
            "edgewright_plugin_failures",
            "Failures of plugins by reason",
            self.failures.clone(),
        );
        registry.register(
            "edgewright_plugin_pool_wait_seconds",
            "Waits of calls for an instance, where all of their worker were busy",
            self.waits.clone(),
        );
        registry.register(
            "edgewright_plugin_instances_replaced",
            "Instances that were replaced after so many calls, or above so much memory",
            self.replaced.clone(),
        );
        registry.register(
            "edgewright_plugin_quarantines",
            "How often a phase of a plugin was left out because it failed too often",
            self.quarantines.clone(),
        );
        registry.register_collector(Box::new(self.live.clone()));
    }

    /// Shows a plugin for as long as it is there.
    pub(super) fn show(&self, plugin: &Arc<Plugin>) {
        self.live.add(plugin);
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
            pool: PoolMetrics {
                waits: self.waits.get_or_create(&PluginLabels { plugin: Arc::clone(plugin) }).clone(),
                replaced: WORN.map(|reason| {
                    let labels = ReasonLabels { plugin: Arc::clone(plugin), reason };
                    self.replaced.get_or_create(&labels).clone()
                }),
            },
        }
    }

    /// Forgets a plugin that is loaded no more.
    pub(super) fn forget(&self, plugin: &Arc<str>) {
        for phase in Phase::ALL.map(Phase::name) {
            self.latency.remove(&PhaseLabels { plugin: Arc::clone(plugin), phase });
            self.quarantines.remove(&PhaseLabels { plugin: Arc::clone(plugin), phase });
            for outcome in OUTCOMES {
                self.calls.remove(&OutcomeLabels { plugin: Arc::clone(plugin), phase, outcome });
            }
        }
        for reason in Failure::ALL.map(Failure::name) {
            self.failures.remove(&ReasonLabels { plugin: Arc::clone(plugin), reason });
        }
        for reason in WORN {
            self.replaced.remove(&ReasonLabels { plugin: Arc::clone(plugin), reason });
        }
        self.waits.remove(&PluginLabels { plugin: Arc::clone(plugin) });
    }

    fn phase(&self, plugin: &Arc<str>, phase: Phase) -> PhaseMetrics {
        let calls = |outcome| {
            let labels = OutcomeLabels { plugin: Arc::clone(plugin), phase: phase.name(), outcome };
            self.calls.get_or_create(&labels).clone()
        };
        let labels = PhaseLabels { plugin: Arc::clone(plugin), phase: phase.name() };
        PhaseMetrics {
            latency: self.latency.get_or_create(&labels).clone(),
            quarantines: self.quarantines.get_or_create(&labels).clone(),
            next: calls("next"),
            respond: calls("respond"),
            failed: calls("failed"),
            skipped: calls("skipped"),
            replace: if phase.is_of_body() { calls("replace") } else { Counter::default() },
            retry: if phase == Phase::Error { calls("retry") } else { Counter::default() },
        }
    }
}

/// The handles of one plugin.
#[derive(Debug)]
pub(super) struct PluginMetrics {
    /// By [`Phase::index`].
    phases: [PhaseMetrics; Phase::ALL.len()],
    failures: [Counter; Failure::ALL.len()],
    pub(super) pool: PoolMetrics,
}

/// The handles of a plugin's pool.
#[derive(Debug, Clone)]
pub(super) struct PoolMetrics {
    /// How long calls queued where all instances of their worker were busy.
    pub(super) waits: Histogram,
    /// In the order of [`WORN`].
    replaced: [Counter; 2],
}

impl PoolMetrics {
    /// An instance had its calls, or more memory than it may keep.
    pub(super) fn replaced(&self, worn: Worn) {
        let [calls, memory] = &self.replaced;
        match worn {
            Worn::Calls => calls.inc(),
            Worn::Memory => memory.inc(),
        };
    }

    /// Instances that were replaced, for either reason.
    pub(super) fn all_replaced(&self) -> u64 {
        self.replaced.iter().map(Counter::get).sum()
    }
}

impl PluginMetrics {
    pub(super) fn phase(&self, phase: Phase) -> &PhaseMetrics {
        // There is one for each phase.
        self.phases.get(phase.index()).unwrap_or(&self.phases[0])
    }

    /// How often it failed, by reason.
    pub(super) fn failures(&self) -> impl Iterator<Item = (Failure, u64)> {
        Failure::ALL.iter().zip(&self.failures).map(|(failure, counter)| (*failure, counter.get()))
    }

    /// Calls of all phases, and those that failed.
    pub(super) fn calls_and_failures(&self) -> (u64, u64) {
        self.phases.iter().fold((0, 0), |(calls, failures), phase| {
            let failed = phase.failed.get() + phase.skipped.get();
            let fine = phase.next.get() + phase.respond.get() + phase.retry.get();
            (calls + fine + failed, failures + failed)
        })
    }

    pub(super) fn failed(&self, failure: Failure) {
        let counters = Failure::ALL.iter().zip(&self.failures);
        if let Some((_, counter)) = counters.into_iter().find(|(reason, _)| **reason == failure) {
            counter.inc();
        }
    }
}

/// The handles of one phase of a plugin.
#[derive(Debug)]
pub(super) struct PhaseMetrics {
    pub(super) latency: Histogram,
    /// How often it was left out.
    pub(super) quarantines: Counter,
    pub(super) next: Counter,
    pub(super) respond: Counter,
    /// The request was answered with an error.
    pub(super) failed: Counter,
    /// The request went on without the plugin.
    pub(super) skipped: Counter,
    /// Something else went on in the place of a piece of a body.
    pub(super) replace: Counter,
    /// Another peer was asked for.
    pub(super) retry: Counter,
}

impl Default for PhaseMetrics {
    fn default() -> Self {
        Self {
            latency: call_histogram(),
            quarantines: Counter::default(),
            next: Counter::default(),
            respond: Counter::default(),
            failed: Counter::default(),
            skipped: Counter::default(),
            replace: Counter::default(),
            retry: Counter::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        handles.pool.replaced(Worn::Memory);
        handles.phase(Phase::Response).quarantines.inc();
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a string takes all");
        for line in [
            r#"plugin_call_duration_seconds_bucket{le="0.000001",plugin="a",phase="request-filter"} 0"#,
            r#"plugin_call_duration_seconds_bucket{le="0.0000025",plugin="a",phase="request-filter"} 1"#,
            r#"plugin_call_duration_seconds_bucket{le="+Inf",plugin="a",phase="request-filter"} 2"#,
            r#"plugin_call_duration_seconds_sum{plugin="a",phase="request-filter"} 2.0000015"#,
            r#"plugin_calls_total{plugin="a",phase="response-filter",outcome="respond"} 1"#,
            r#"plugin_failures_total{plugin="a",reason="time-limit"} 1"#,
            r#"plugin_instances_replaced_total{plugin="a",reason="memory"} 1"#,
            r#"plugin_instances_replaced_total{plugin="a",reason="calls"} 0"#,
            r#"plugin_quarantines_total{plugin="a",phase="response-filter"} 1"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("log-filter"), "{text}");
        metrics.forget(&"a".into());
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a string takes all");
        assert!(!text.contains("plugin=\"a\""), "{text}");
    }
}
