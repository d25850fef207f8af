//! The metrics of all plugins, as `/metrics` shows them. Must not know how they are changed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::metric::{Labelled, Metric, PREFIX};
use super::series::Series;
use super::share::{Amount, Share};
use super::{Kind, Refused};

/// Of all plugins together: what a scrape every few seconds can carry.
const BOUND: Amount = Amount { series: 10_000, text: 8 << 20 };

/// Of one name, by plugin.
type Family = BTreeMap<Arc<str>, Weak<Metric>>;

/// A metric, and the plugin that it is of.
type Owned = (Arc<str>, Arc<Metric>);

/// All metrics, by name and plugin.
#[derive(Debug, Default)]
pub(in crate::plugin) struct Board {
    families: Mutex<BTreeMap<Box<str>, Family>>,
    share: Share,
}

impl Board {
    /// Shows a metric in the place of what the plugin had under its name.
    pub(super) fn show(&self, plugin: &Arc<str>, metric: &Arc<Metric>) -> Result<(), Refused> {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = |metric: &Metric| std::mem::discriminant(&metric.kind);
        let clashes =
            |other: &Weak<Metric>| other.upgrade().is_some_and(|other| kind(&other) != kind(metric));
        if let Some(family) = families.get(&metric.name)
            && family.iter().any(|(owner, other)| owner != plugin && clashes(other))
        {
            return Err(Refused::Conflict);
        }
        let family = families.entry(metric.name.clone()).or_default();
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

    /// Whether there is room for one more series of so many bytes.
    pub(super) fn fits(&self, text: usize) -> bool {
        self.share.fits(text, BOUND)
    }

    /// The same, and takes it.
    pub(super) fn take(&self, text: usize) -> bool {
        self.share.take(text, BOUND)
    }

    pub(super) fn give_back(&self, amount: Amount) {
        self.share.give_back(amount);
    }

    /// What there is to show. Only pointers are copied, so that workers don't wait for text to be written.
    fn copied(&self) -> Vec<(Box<str>, Vec<Owned>)> {
        let families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        let live =
            |(plugin, metric): (&Arc<str>, &Weak<Metric>)| Some((Arc::clone(plugin), metric.upgrade()?));
        families
            .iter()
            .map(|(name, family)| (name.clone(), family.iter().filter_map(live).collect()))
            .collect()
    }
}

/// The board in the registry.
#[derive(Debug)]
pub(in crate::plugin) struct Shown(pub(in crate::plugin) Arc<Board>);

impl Collector for Shown {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, family) in self.0.copied() {
            let Some((_, first)) = family.first() else { continue };
            let name = format!("{PREFIX}{name}");
            let mut encoder =
                encoder.encode_descriptor(&name, &first.help, None, metric_type(&first.kind))?;
            for (plugin, metric) in &family {
                for series in metric.copied() {
                    encode_series(&mut encoder, plugin, metric, &series)?;
                }
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

fn encode_series(
    encoder: &mut MetricEncoder<'_>,
    plugin: &str,
    metric: &Metric,
    (values, series): &Labelled,
) -> fmt::Result {
    let own = metric.labels.iter().zip(&**values).map(|(name, value)| (name.as_str(), value.as_str()));
    let labels: Vec<(&str, &str)> = std::iter::once(("plugin", plugin)).chain(own).collect();
    let mut encoder = encoder.encode_family(&labels)?;
    match (&**series, &metric.kind) {
        (Series::Number(number), Kind::Counter) => {
            encoder.encode_counter::<NoLabelSet, f64, f64>(&number.value(), None)
        }
        (Series::Number(number), _) => encoder.encode_gauge(&number.value()),
        (Series::Histogram { bounds, counts, sum }, _) => {
            let bounds = bounds.iter().copied().chain(std::iter::once(f64::INFINITY));
            let counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
            let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
            let count = buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(sum.value(), count, &buckets, None)
        }
    }
}
