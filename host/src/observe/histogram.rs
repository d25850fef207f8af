//! A latency histogram that the request path may touch: fixed buckets of atomics. The metrics crate's own
//! histogram takes a mutex for each observation, and nothing on the request path waits for a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Counts durations by upper bounds that are given once. Cloning shares the counts.
#[derive(Debug, Clone)]
pub struct Histogram(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Upper bounds in nanoseconds, ascending.
    bounds: &'static [u64],
    /// One more than bounds: the last counts what is over all of them.
    counts: Box<[AtomicU64]>,
    /// Sum of all observations in nanoseconds.
    sum: AtomicU64,
}

/// For whole requests: 100 µs to 30 s.
pub const REQUEST_BOUNDS: &[u64] = &[
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
    30_000_000_000,
];

/// For one call of a plugin: 1 µs to 1 s.
pub const CALL_BOUNDS: &[u64] = &[
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    2_500_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
];

/// For waits: 100 µs to 10 s.
pub const WAIT_BOUNDS: &[u64] = &[
    100_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
    10_000_000_000,
];

impl Histogram {
    /// `bounds`: upper bounds in nanoseconds, ascending.
    pub fn new(bounds: &'static [u64]) -> Self {
        Self(Arc::new(Inner {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }))
    }

    /// Counts one duration. Three relaxed atomics at most, no lock.
    pub fn observe(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = self.0.bounds.partition_point(|bound| *bound < nanos);
        if let Some(count) = self.0.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.0.sum.fetch_add(nanos, Ordering::Relaxed);
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The duration that this share of all observations did not exceed, by interpolation within its bucket;
    /// `None` without observations. What is over the last bound counts as that bound.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let counts: Vec<u64> = self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return None;
        }
        let rank = share.clamp(0.0, 1.0) * total as f64;
        let (mut below, mut lower) = (0.0, 0.0);
        for (count, upper) in counts.iter().zip(self.0.bounds) {
            let (count, upper) = (*count as f64, *upper as f64);
            if count > 0.0 && below + count >= rank {
                let nanos = lower + (upper - lower) * ((rank - below) / count).clamp(0.0, 1.0);
                return Some(Duration::from_nanos(nanos as u64));
            }
            below += count;
            lower = upper;
        }
        Some(Duration::from_nanos(lower as u64))
    }

    /// All durations added up.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.0.sum.load(Ordering::Relaxed))
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let buckets: Vec<(f64, u64)> = self
            .0
            .bounds
            .iter()
            .map(|bound| seconds(*bound))
            .chain(std::iter::once(f64::INFINITY))
            .zip(self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)))
            .collect();
        // The count is taken from the buckets that are written, so that the two agree whatever is
        // observed in between.
        let count = buckets.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(self.sum().as_secs_f64(), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::registry;

    #[test]
    fn counts_by_bucket_and_writes_cumulative_counts() {
        let histogram = Histogram::new(&[1_000, 1_000_000]);
        for nanos in [1, 1_000, 1_001, 5_000_000] {
            histogram.observe(Duration::from_nanos(nanos));
        }
        let mut registry = registry::registry();
        registry.register("edgewright_took_seconds", "How long it took", histogram.clone());
        let text = registry::text(&registry).unwrap();
        for line in [
            "edgewright_took_seconds_bucket{le=\"0.000001\"} 2",
            "edgewright_took_seconds_bucket{le=\"0.001\"} 3",
            "edgewright_took_seconds_bucket{le=\"+Inf\"} 4",
            "edgewright_took_seconds_count 4",
        ] {
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
        assert_eq!(histogram.count(), 4);
        let quantile = |share| histogram.quantile(share).map(|time| time.as_nanos());
        assert_eq!(quantile(0.25), Some(500), "half-way through the first bucket");
        assert_eq!(quantile(0.5), Some(1_000));
        assert_eq!(quantile(0.75), Some(1_000_000));
        assert_eq!(quantile(1.0), Some(1_000_000), "over the last bound");
        assert_eq!(Histogram::new(&[1]).quantile(0.5), None);
        assert_eq!(histogram.sum(), Duration::from_nanos(5_002_002));
    }
}
