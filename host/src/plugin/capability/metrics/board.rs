//! The metrics of all plugins, as `/metrics` shows them. Must not know how they are changed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::series::Series;
use super::{Kind, Metric, Refused};

/// Series of all plugins together: what a scrape every few seconds can carry.
const MAX_SERIES: usize = 10_000;

/// In front of every name.
const PREFIX: &str = "edgewright_plugin_custom_";

/// Of one name, by plugin.
type Family = BTreeMap<Arc<str>, Weak<Metric>>;

/// All metrics, by name and plugin.
#[derive(Debug, Default)]
pub(in crate::plugin) struct Board {
    families: Mutex<BTreeMap<Box<str>, Family>>,
    series: AtomicUsize,
}

impl Board {
    /// Shows a metric in the place of what the plugin had under that name.
    pub(super) fn show(&self, plugin: &Arc<str>, name: &str, metric: &Arc<Metric>) -> Result<(), Refused> {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let family = families.entry(name.into()).or_default();
        let clashes = |other: &Weak<Metric>| {
            let kind = |metric: &Metric| std::mem::discriminant(&metric.kind);
            other.upgrade().is_some_and(|other| kind(&other) != kind(metric))
        };
        if family.iter().any(|(owner, other)| owner != plugin && clashes(other)) {
            return Err(Refused::Conflict);
        }
        family.insert(Arc::clone(plugin), Arc::downgrade(metric));
        Ok(())
    }

    /// The metrics of a plugin are gone. Others of its name may be there already.
    pub(super) fn hide(&self, gone: &[Arc<Metric>]) {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        families.retain(|_, family| {
            family.retain(|_, metric| gone.iter().all(|one| Arc::as_ptr(one) != metric.as_ptr()));
            !family.is_empty()
        });
    }

    /// Whether there is room for one more series, which is counted then.
    pub(super) fn count_one_more(&self) -> bool {
        let one_more = |series: usize| (series < MAX_SERIES).then_some(series + 1);
        self.series.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    pub(super) fn count_less(&self, series: usize) {
        self.series.fetch_sub(series, Ordering::Relaxed);
    }
}

/// The board in the registry.
#[derive(Debug)]
pub(in crate::plugin) struct Shown(pub(in crate::plugin) Arc<Board>);

impl Collector for Shown {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let families = self.0.families.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, family) in &*families {
            let metrics = family.iter().filter_map(|(plugin, metric)| Some((plugin, metric.upgrade()?)));
            let metrics: Vec<_> = metrics.collect();
            let Some((_, first)) = metrics.first() else { continue };
            let name = format!("{PREFIX}{name}");
            let mut encoder =
                encoder.encode_descriptor(&name, &first.help, None, metric_type(&first.kind))?;
            for (plugin, metric) in &metrics {
                encode_metric(&mut encoder, plugin, metric)?;
            }
        }
        Ok(())
    }
}

fn metric_type(kind: &Kind) -> MetricType {
    match kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
        Kind::Histogram(_) => MetricType::Histogram,
    }
}

fn encode_metric(encoder: &mut MetricEncoder<'_>, plugin: &str, metric: &Metric) -> fmt::Result {
    let all = metric.series.read().unwrap_or_else(PoisonError::into_inner);
    for (values, series) in &*all {
        let own = metric.labels.iter().zip(values).map(|(name, value)| (name.as_str(), value.as_str()));
        let labels: Vec<(&str, &str)> = std::iter::once(("plugin", plugin)).chain(own).collect();
        let mut encoder = encoder.encode_family(&labels)?;
        match (&**series, &metric.kind) {
            (Series::Number(number), Kind::Counter) => {
                encoder.encode_counter::<NoLabelSet, f64, f64>(&number.value(), None)?;
            }
            (Series::Number(number), _) => encoder.encode_gauge(&number.value())?,
            (Series::Histogram { bounds, counts, sum }, _) => {
                let bounds = bounds.iter().copied().chain(std::iter::once(f64::INFINITY));
                let counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
                let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
                let count = buckets.iter().map(|(_, count)| count).sum();
                encoder.encode_histogram::<NoLabelSet>(sum.value(), count, &buckets, None)?;
            }
        }
    }
    Ok(())
}
