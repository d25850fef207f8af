//! A plugin in `/status`: what it is, what its calls cost and how they ended, and how it is at the moment.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::config::model::{Isolation, OnFailure};
use crate::plugin::{PhaseVitals, Plugin};

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct PluginStatus<'a> {
    name: &'a str,
    /// Lower-case hex of the component's SHA-256.
    version: &'a str,
    isolation: &'static str,
    on_failure: &'static str,
    /// Of this start: next to nothing where the compiled form was cached.
    compile_ms: f64,
    cached: bool,
    phases: Vec<PhaseStatus>,
    /// By reason, without noughts.
    failures: BTreeMap<&'static str, u64>,
    instances: Instances,
    memory_peak_bytes: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct PhaseStatus {
    name: &'static str,
    /// Since the start of the process, by outcome.
    calls: Calls,
    /// Estimates from a histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_us: Option<f64>,
    /// How often it was left out because it failed too often.
    quarantines: u64,
    /// Only while it is left out: until the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantine_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Calls {
    next: u64,
    respond: u64,
    retry: u64,
    failed: u64,
    skipped: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Instances {
    idle: usize,
    busy: usize,
    building: usize,
    /// Calls that wait for one at the moment.
    queued: usize,
    /// Calls that had to wait for one.
    waits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_p99_us: Option<f64>,
    /// Those that had their calls, or more memory than they may keep.
    replaced: u64,
}

impl<'a> PluginStatus<'a> {
    pub(super) fn of(plugin: &'a Plugin) -> Self {
        let vitals = plugin.vitals();
        let (waits, wait) = vitals.waits;
        let census = vitals.census;
        Self {
            name: plugin.name(),
            version: plugin.version(),
            isolation: match plugin.isolation() {
                Isolation::Reuse => "reuse",
                Isolation::Fresh => "fresh",
            },
            on_failure: match plugin.on_failure() {
                OnFailure::Closed => "closed",
                OnFailure::Open => "open",
            },
            compile_ms: plugin.compile_time().as_secs_f64() * 1e3,
            cached: plugin.cached(),
            phases: vitals.phases.iter().map(PhaseStatus::of).collect(),
            failures: vitals.failures.into_iter().collect(),
            instances: Instances {
                idle: census.idle,
                busy: census.busy,
                building: census.building,
                queued: census.queued,
                waits,
                wait_p99_us: wait.map(micros),
                replaced: vitals.replaced,
            },
            memory_peak_bytes: vitals.memory_peak,
        }
    }
}

impl PhaseStatus {
    fn of(vitals: &PhaseVitals) -> Self {
        Self {
            name: vitals.phase.name(),
            calls: Calls {
                next: vitals.next,
                respond: vitals.respond,
                retry: vitals.retry,
                failed: vitals.failed,
                skipped: vitals.skipped,
            },
            p50_us: vitals.median.map(micros),
            p99_us: vitals.p99.map(micros),
            quarantines: vitals.quarantines,
            quarantine_ms: vitals.quarantine.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// With one decimal.
fn micros(time: Duration) -> f64 {
    (time.as_nanos() / 100) as f64 / 10.0
}
