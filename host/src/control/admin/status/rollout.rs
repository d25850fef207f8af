//! A rollout in `/status`.

use serde::Serialize;

use crate::snapshot::Rollout;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RolloutStatus<'a> {
    plugin: &'a str,
    candidate: &'a str,
    /// In percent; 0 once it was rolled back.
    weight: u8,
    configured_weight: u8,
    rolled_back: bool,
    /// Of the candidate, wherever it is used.
    calls: u64,
    failures: u64,
}

impl<'a> RolloutStatus<'a> {
    pub(super) fn of(rollout: &'a Rollout) -> Self {
        let (calls, failures) = rollout.candidate().calls_and_failures();
        Self {
            plugin: rollout.plugin(),
            candidate: rollout.candidate().name(),
            weight: rollout.weight(),
            configured_weight: rollout.configured_weight(),
            rolled_back: rollout.is_rolled_back(),
            calls,
            failures,
        }
    }
}
