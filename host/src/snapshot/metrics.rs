//! Counts of a route's requests. The handles are made with the generation, so a request touches atomics
//! alone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::mirror::{Mirror, MirrorFamily};
use crate::observe::histogram::{Histogram, REQUEST_BOUNDS};

use super::Rollout;

/// Labels of a route's counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClassLabels {
    route: String,
    class: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RolloutLabels {
    route: String,
    plugin: Arc<str>,
    candidate: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ShareLabels {
    route: String,
    upstream: String,
}

/// Metrics of all routes.
#[derive(Clone)]
pub(crate) struct Families {
    requests: Family<ClassLabels, Counter>,
    durations: Family<RouteLabel, Histogram, fn() -> Histogram>,
    rollouts: Family<RolloutLabels, Gauge>,
    shares: Family<ShareLabels, Counter>,
    /// The labels that `shares` has, to forget them with their routes.
    known_shares: Arc<Mutex<Vec<ShareLabels>>>,
    mirrors: MirrorFamily,
}

/// Metrics of one route.
#[derive(Clone)]
pub struct RequestMetrics {
    /// By class of status: 0 (no response), 1xx to 5xx.
    classes: [Counter; 6],
    duration: Histogram,
}

const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

impl Families {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(REQUEST_BOUNDS)),
            rollouts: Family::default(),
            shares: Family::default(),
            known_shares: Arc::default(),
            mirrors: MirrorFamily::register(registry),
        };
        registry.register(
            "edgewright_rollout_weight_percent",
            "Share of a route's requests that a new plugin gets in the place of another",
            families.rollouts.clone(),
        );
        registry.register(
            "edgewright_requests",
            "Finished requests by route and class of status",
            families.requests.clone(),
        );
        registry.register(
            "edgewright_request_duration_seconds",
            "From the first byte of a request to the last of its response",
            families.durations.clone(),
        );
        registry.register(
            "edgewright_split_requests",
            "Requests of a route that is split, by the upstream that they went to",
            families.shares.clone(),
        );
        families
    }

    /// Shows these rollouts, by route, and no others.
    pub(crate) fn show_rollouts<'a>(&self, rollouts: impl IntoIterator<Item = (&'a str, &'a Rollout)>) {
        self.rollouts.clear();
        for (route, rollout) in rollouts {
            let labels = RolloutLabels {
                route: route.to_owned(),
                plugin: Arc::clone(rollout.plugin()),
                candidate: Arc::clone(rollout.candidate().shared_name()),
            };
            self.rollouts.get_or_create(&labels).set(rollout.weight().into());
        }
    }

    /// Forgets a route that there is no more.
    pub(crate) fn forget(&self, route: &str) {
        for class in CLASSES {
            self.requests.remove(&ClassLabels { route: route.to_owned(), class });
        }
        self.durations.remove(&RouteLabel { route: route.to_owned() });
        self.mirrors.forget(route);
        let mut known = self.known_shares.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|labels| labels.route != route || !self.shares.remove(labels));
    }

    /// Requests of a split route that one of its upstreams gets.
    pub(crate) fn share(&self, route: &str, upstream: &str) -> Counter {
        let labels = ShareLabels { route: route.to_owned(), upstream: upstream.to_owned() };
        let counter = self.shares.get_or_create(&labels).clone();
        let mut known = self.known_shares.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&labels) {
            known.push(labels);
        }
        counter
    }

    pub(crate) fn mirror(&self, route: &str, settings: &crate::config::model::Mirror) -> Arc<Mirror> {
        self.mirrors.of(route, settings)
    }

    pub(crate) fn of(&self, route: &str) -> RequestMetrics {
        let counter =
            |class| self.requests.get_or_create(&ClassLabels { route: route.to_owned(), class }).clone();
        RequestMetrics {
            classes: CLASSES.map(counter),
            duration: self.durations.get_or_create(&RouteLabel { route: route.to_owned() }).clone(),
        }
    }
}

impl RequestMetrics {
    /// Counts a finished request; status 0 where nothing was sent.
    pub fn observe(&self, status: u16, took: Duration) {
        if let Some(counter) = self.classes.get(usize::from(status / 100)) {
            counter.inc();
        }
        self.duration.observe(took);
    }
}
