//! A plugin that takes another one's place on a route, for a share of the requests. Decided once per request, before
//! any phase, so that all phases of it see one version. It falls back to none when the new plugin fails too often.
//! Knows nothing of how a plugin fails.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use http::{HeaderMap, header};

use crate::config::model::{Rollout as Model, Sticky};
use crate::cookie;
use crate::plugin::Plugin;

/// A request's lot is one of so many.
const LOTS: u64 = 10_000;

/// Calls are judged in windows of so many times the least number that a judgement takes: what began well a week ago
/// must not hide what fails now.
const WINDOW: u64 = 10;

/// Which plugin of a rollout serves a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    #[default]
    Stable,
    Candidate,
}

/// One rollout of one route. Outlives generations, as long as nothing that it depends on changes.
#[derive(Debug)]
pub struct Rollout {
    plugin: Arc<str>,
    candidate: Arc<Plugin>,
    model: Model,
    /// In percent: what the configuration says, or 0.
    weight: AtomicU8,
    rolled_back: AtomicBool,
    /// The candidate's calls and failures when the window began.
    calls_before: AtomicU64,
    failures_before: AtomicU64,
}

/// What a rollout was stopped for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledBack {
    pub calls: u64,
    pub failures: u64,
}

impl Rollout {
    pub(super) fn new(plugin: &Arc<str>, candidate: &Arc<Plugin>, model: &Model) -> Self {
        let (calls, failures) = candidate.calls_and_failures();
        Self {
            plugin: Arc::clone(plugin),
            candidate: Arc::clone(candidate),
            model: model.clone(),
            weight: AtomicU8::new(model.weight),
            rolled_back: AtomicBool::new(false),
            calls_before: AtomicU64::new(calls),
            failures_before: AtomicU64::new(failures),
        }
    }

    /// Whether it is the one that a later configuration describes: the same two plugins, and the same terms.
    pub(super) fn is(&self, plugin: &str, candidate: &Arc<Plugin>, model: &Model) -> bool {
        let (old, new) = (&self.model, model);
        &*self.plugin == plugin
            && Arc::ptr_eq(&self.candidate, candidate)
            && (old.weight, &old.sticky, old.min_calls, old.max_failures)
                == (new.weight, &new.sticky, new.min_calls, new.max_failures)
    }

    /// Who serves this request. `client` and `headers` are those that it came with.
    pub fn choose(&self, client: IpAddr, headers: &HeaderMap) -> Version {
        let weight = self.weight.load(Ordering::Relaxed);
        if weight == 0 {
            return Version::Stable;
        }
        let lot = match &self.model.sticky {
            Sticky::No => None,
            Sticky::Client => Some(lot(&client)),
            Sticky::Header(name) => headers.get(name).map(|value| lot(value.as_bytes())),
            Sticky::Cookie(name) => {
                let lines = headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
                cookie::value(lines, name.as_bytes()).map(lot)
            }
        };
        let lot = lot.unwrap_or_else(|| fastrand::u64(..LOTS));
        if lot < u64::from(weight) * LOTS / 100 { Version::Candidate } else { Version::Stable }
    }

    /// Stops it if the candidate failed too often in this window. Called by one thread, now and then.
    pub fn judge(&self) -> Option<RolledBack> {
        if self.is_rolled_back() {
            return None;
        }
        let (calls_now, failures_now) = self.candidate.calls_and_failures();
        let calls = calls_now.saturating_sub(self.calls_before.load(Ordering::Relaxed));
        let failures = failures_now.saturating_sub(self.failures_before.load(Ordering::Relaxed));
        let enough = self.model.min_calls as u64;
        if is_too_much(calls, failures, enough, self.model.max_failures) {
            self.weight.store(0, Ordering::Relaxed);
            self.rolled_back.store(true, Ordering::Relaxed);
            return Some(RolledBack { calls, failures });
        }
        if calls >= enough.saturating_mul(WINDOW) {
            self.calls_before.store(calls_now, Ordering::Relaxed);
            self.failures_before.store(failures_now, Ordering::Relaxed);
        }
        None
    }

    /// The plugin that serves the other requests.
    pub fn plugin(&self) -> &Arc<str> {
        &self.plugin
    }

    pub fn candidate(&self) -> &Plugin {
        &self.candidate
    }

    /// The share of the requests that the candidate gets, in percent.
    pub fn weight(&self) -> u8 {
        self.weight.load(Ordering::Relaxed)
    }

    /// What the configuration says of it.
    pub fn configured_weight(&self) -> u8 {
        self.model.weight
    }

    pub fn is_rolled_back(&self) -> bool {
        self.rolled_back.load(Ordering::Relaxed)
    }
}

/// The same for the same key, in every process. One that is below a weight is below every larger one.
fn lot(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() % LOTS
}

fn is_too_much(calls: u64, failures: u64, enough: u64, percent: u8) -> bool {
    calls >= enough && failures.saturating_mul(100) > calls.saturating_mul(u64::from(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_count_once_there_are_enough_calls() {
        let check = |calls, failures, expected| {
            assert_eq!(is_too_much(calls, failures, 20, 5), expected, "{failures} of {calls}");
        };
        check(19, 19, false);
        check(20, 1, false);
        check(20, 2, true);
        check(100, 5, false);
        check(100, 6, true);
        assert!(is_too_much(1, 1, 1, 0));
        assert!(!is_too_much(50, 0, 20, 0));
    }

    #[test]
    fn lots_spread_evenly_and_stay() {
        let below = |percent: u64| {
            (0..10_000_u32).filter(|key| lot(&key.to_string().into_bytes()) < percent * LOTS / 100).count()
        };
        for (percent, expected) in [(1, 100), (10, 1_000), (50, 5_000)] {
            let found = below(percent);
            assert!(found.abs_diff(expected) < expected / 2, "{found} of 10000 at {percent} %");
        }
        assert_eq!(below(100), 10_000);
        assert_eq!(lot(b"session-7".as_slice()), lot(b"session-7".as_slice()));
    }
}
