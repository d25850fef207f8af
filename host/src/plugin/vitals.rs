//! How a plugin is: what its calls cost and how they ended, its instances, memory and quarantine. Read by the
//! status and by metrics; nothing here is on the path of a request.

use std::time::Duration;

use super::loaded::Plugin;
use super::pool::Census;
use crate::phase::Phase;

/// A plugin at a moment, over all workers.
#[derive(Debug, Clone)]
pub struct Vitals {
    pub census: Census,
    /// The most linear memory that an instance had, in bytes.
    pub memory_peak: usize,
    /// Only of phases that it has.
    pub phases: Vec<PhaseVitals>,
    /// Failures by their word, without noughts.
    pub failures: Vec<(&'static str, u64)>,
    /// Calls that waited for an instance, and the time that 99 % of them did not exceed.
    pub waits: (u64, Option<Duration>),
    /// Instances that had their calls, or more memory than they may keep.
    pub replaced: u64,
}

/// One phase of a plugin.
#[derive(Debug, Clone)]
pub struct PhaseVitals {
    pub phase: Phase,
    /// Calls that went on.
    pub next: u64,
    /// Calls that answered.
    pub respond: u64,
    /// Calls that asked for another peer.
    pub retry: u64,
    /// Calls that failed their request.
    pub failed: u64,
    /// Calls that failed and were passed over.
    pub skipped: u64,
    /// Time of a call that half of them, and 99 % of them, did not exceed; an estimate from a histogram.
    pub median: Option<Duration>,
    pub p99: Option<Duration>,
    /// How often it was left out because it failed too often.
    pub quarantines: u64,
    /// Where it is left out: how long still.
    pub quarantine: Option<Duration>,
}

impl Plugin {
    /// How it is.
    pub fn vitals(&self) -> Vitals {
        let phases = self.phases().into_iter().map(|phase| self.phase_vitals(phase));
        let waits = &self.pool().metrics().waits;
        Vitals {
            census: self.census(),
            memory_peak: self.memory_peak(),
            phases: phases.collect(),
            failures: self
                .metrics()
                .failures()
                .filter(|(_, count)| *count > 0)
                .map(|(failure, count)| (failure.name(), count))
                .collect(),
            waits: (waits.count(), waits.quantile(0.99)),
            replaced: self.pool().metrics().all_replaced(),
        }
    }

    fn phase_vitals(&self, phase: Phase) -> PhaseVitals {
        let metrics = self.metrics().phase(phase);
        PhaseVitals {
            phase,
            next: metrics.next.get(),
            respond: metrics.respond.get(),
            retry: metrics.retry.get(),
            failed: metrics.failed.get(),
            skipped: metrics.skipped.get(),
            median: metrics.latency.quantile(0.5),
            p99: metrics.latency.quantile(0.99),
            quarantines: metrics.quarantines.get(),
            quarantine: self.quarantined(phase),
        }
    }

    /// Its instances, and what they do.
    pub fn census(&self) -> Census {
        self.pool().census()
    }

    /// The most linear memory that an instance had, in bytes.
    pub fn memory_peak(&self) -> usize {
        self.blueprint().peak()
    }

    /// Until a phase is tried again, where it is left out.
    pub fn quarantined(&self, phase: Phase) -> Option<Duration> {
        self.quarantine(phase).remaining()
    }
}
