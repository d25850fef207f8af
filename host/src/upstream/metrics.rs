//! What is counted of upstreams and their names. Knows nothing of how peers are found.

mod peers;

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Upstreams;

use peers::ShownPeers;

/// The metrics of all upstreams. Cheap to clone. Labels hold names of the configuration alone, so their
/// number is bounded.
#[derive(Debug, Clone, Default)]
pub struct UpstreamMetrics {
    peers: Family<UpstreamLabel, Gauge>,
    lookups: Family<LookupLabels, Counter>,
    shown: ShownPeers,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UpstreamLabel {
    upstream: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LookupLabels {
    name: Arc<str>,
    outcome: &'static str,
}

impl UpstreamMetrics {
    /// Registers `edgewright_upstream_peers`, `edgewright_dns_lookups_total` and `edgewright_upstream_peer_…`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "edgewright_upstream_peers",
            "Peers that an upstream has at present",
            metrics.peers.clone(),
        );
        registry.register(
            "edgewright_dns_lookups",
            "Look-ups of a name and record type, by outcome",
            metrics.lookups.clone(),
        );
        registry.register_collector(Box::new(metrics.shown.clone()));
        metrics
    }

    /// From now on, the peers of these upstreams are shown, and no others.
    pub(super) fn show(&self, upstreams: &Arc<Upstreams>) {
        self.peers.clear();
        self.shown.show(upstreams);
        for upstream in upstreams.iter() {
            self.set_peers(upstream.name(), upstream.peers().len());
        }
    }

    pub(super) fn set_peers(&self, upstream: &Arc<str>, count: usize) {
        let label = UpstreamLabel { upstream: Arc::clone(upstream) };
        self.peers.get_or_create(&label).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn count_lookup(&self, name: &Arc<str>, outcome: &'static str) {
        self.lookups.get_or_create(&LookupLabels { name: Arc::clone(name), outcome }).inc();
    }
}

#[cfg(test)]
impl UpstreamMetrics {
    pub(super) fn lookups(&self, name: &str, outcome: &'static str) -> u64 {
        self.lookups.get_or_create(&LookupLabels { name: name.into(), outcome }).get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported() {
        let mut registry = Registry::default();
        let metrics = UpstreamMetrics::register(&mut registry);
        metrics.set_peers(&"old".into(), 1);
        metrics.show(&Arc::new(Upstreams::build(&crate::upstream::set::tests::config(&[]))));
        metrics.set_peers(&"api".into(), 2);
        metrics.count_lookup(&"api.test".into(), "found");
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert!(text.contains("edgewright_upstream_peers{upstream=\"api\"} 2"), "{text}");
        assert!(
            text.contains("edgewright_dns_lookups_total{name=\"api.test\",outcome=\"found\"} 1"),
            "{text}"
        );
        assert!(!text.contains("old"), "{text}");
    }
}
