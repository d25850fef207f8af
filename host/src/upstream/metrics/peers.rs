//! What is counted of each peer, read when somebody asks: peers come and go with DNS, and so do their series. Knows
//! no registry.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::upstream::{PeerStatus, Upstream, Upstreams};

/// Peers of an upstream that have series of their own. The others are one: `peer="other"`.
const MOST: usize = 100;

/// The upstreams whose peers are shown. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownPeers(Arc<ArcSwapOption<Upstreams>>);

impl ShownPeers {
    pub(super) fn show(&self, upstreams: &Arc<Upstreams>) {
        self.0.store(Some(Arc::clone(upstreams)));
    }
}

/// One of the numbers of an upstream.
struct Total {
    name: &'static str,
    help: &'static str,
    of: fn(&Upstream) -> u64,
}

const TOTALS: [Total; 3] = [
    Total {
        name: "edgewright_upstream_refused",
        help: "Requests that an upstream's limits had no place for",
        of: Upstream::refused,
    },
    Total {
        name: "edgewright_upstream_retries",
        help: "Requests that were sent once more",
        of: |upstream| upstream.retried().0,
    },
    Total {
        name: "edgewright_upstream_retries_refused",
        help: "Requests that were not sent once more since too many are",
        of: |upstream| upstream.retried().1,
    },
];

/// One of the numbers of a peer.
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    of: fn(&PeerStatus) -> u64,
}

const METRICS: [Metric; 5] = [
    Metric {
        name: "edgewright_upstream_peer_requests",
        help: "Requests that a peer was chosen for",
        kind: MetricType::Counter,
        of: |peer| peer.requests,
    },
    Metric {
        name: "edgewright_upstream_peer_failures",
        help: "Connections to a peer that failed, responses of 500 and more, and those that broke or did not come",
        kind: MetricType::Counter,
        of: |peer| peer.failures,
    },
    Metric {
        name: "edgewright_upstream_peer_ejections",
        help: "How often a peer was left out for its failures",
        kind: MetricType::Counter,
        of: |peer| peer.ejections,
    },
    Metric {
        name: "edgewright_upstream_peer_in_flight",
        help: "Requests that are on their way to a peer",
        kind: MetricType::Gauge,
        of: |peer| u64::try_from(peer.in_flight).unwrap_or(u64::MAX),
    },
    Metric {
        name: "edgewright_upstream_peer_healthy",
        help: "Whether requests go to a peer: 1 or 0",
        kind: MetricType::Gauge,
        of: |peer| u64::from(peer.healthy),
    },
];

impl Collector for ShownPeers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(upstreams) = self.0.load_full() else { return Ok(()) };
        let all: Vec<_> = upstreams
            .iter()
            .map(|upstream| {
                let peers: Vec<PeerStatus> = upstream.peers().iter().map(|peer| peer.status()).collect();
                (Arc::clone(upstream.name()), peers)
            })
            .collect();
        for total in &TOTALS {
            let mut family = encoder.encode_descriptor(total.name, total.help, None, MetricType::Counter)?;
            for upstream in upstreams.iter() {
                let labels = [("upstream", &**upstream.name())];
                ConstCounter::new((total.of)(upstream)).encode(family.encode_family(&labels)?)?;
            }
        }
        for metric in &METRICS {
            let mut family = encoder.encode_descriptor(metric.name, metric.help, None, metric.kind)?;
            let mut series = |upstream: &str, peer: &str, value: u64| {
                let labels = [("upstream", upstream), ("peer", peer)];
                let encoder = family.encode_family(&labels)?;
                match metric.kind {
                    MetricType::Gauge => ConstGauge::new(value).encode(encoder),
                    _ => ConstCounter::new(value).encode(encoder),
                }
            };
            for (upstream, peers) in &all {
                let (own, others) = peers.split_at_checked(MOST).unwrap_or((peers, &[]));
                for peer in own {
                    series(upstream, &peer.address, (metric.of)(peer))?;
                }
                if !others.is_empty() {
                    series(upstream, "other", others.iter().map(metric.of).sum())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use crate::upstream::Ask;
    use crate::upstream::set::tests::config;

    use super::*;

    #[test]
    fn peers_have_series_of_their_own_up_to_a_bound() {
        let mut registry = Registry::default();
        let shown = ShownPeers::default();
        registry.register_collector(Box::new(shown.clone()));
        let addresses: Vec<String> = (0..150).map(|last| format!("10.0.0.{last}")).collect();
        let peers: Vec<(&str, u16)> = addresses.iter().map(|address| (address.as_str(), 80)).collect();
        let upstreams = Arc::new(Upstreams::build(&config(&[("big", &peers)])));
        shown.show(&upstreams);
        let upstream = upstreams.iter().next().unwrap();
        let held: Vec<_> = (0..150).map(|_| upstream.pick(&Ask::default()).unwrap()).collect();
        held[0].connect_failed(upstream);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let has = |line: &str| assert!(text.contains(line), "{line} in {text}");
        has("edgewright_upstream_peer_requests_total{upstream=\"big\",peer=\"10.0.0.0:80\"} 1\n");
        has("edgewright_upstream_peer_requests_total{upstream=\"big\",peer=\"other\"} 50\n");
        has("edgewright_upstream_peer_failures_total{upstream=\"big\",peer=\"10.0.0.0:80\"} 1\n");
        has("edgewright_upstream_peer_healthy{upstream=\"big\",peer=\"10.0.0.0:80\"} 0\n");
        has("edgewright_upstream_peer_in_flight{upstream=\"big\",peer=\"10.0.0.1:80\"} 1\n");
        assert_eq!(text.matches("peer_requests_total{").count(), MOST + 1);
    }
}
