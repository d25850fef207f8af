//! The double of `metrics`: what this thread's plugins have defined and counted. Must not know who did.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::MetricError;
use crate::metrics::Kind;

const MAX_METRICS: usize = 100;
const MAX_LABELS: usize = 8;
const MAX_LABEL_VALUE: usize = 128;
const ENDINGS: [&str; 6] = ["_total", "_count", "_sum", "_bucket", "_created", "_info"];

struct Metric {
    name: String,
    kind: Sort,
    labels: Vec<String>,
    /// By the values of the labels; of a histogram, how many values there were.
    series: BTreeMap<Vec<String>, f64>,
}

#[derive(PartialEq)]
enum Sort {
    Counter,
    Gauge,
    Histogram(Vec<f64>),
}

thread_local! {
    static METRICS: RefCell<Vec<Metric>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn define(name: &str, _: &str, kind: Kind<'_>, labels: &[&str]) -> Result<u32, MetricError> {
    if !is_name(name) || ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Err(MetricError::InvalidName);
    }
    let is_label = |label: &&str| is_name(label) && !matches!(*label, "plugin" | "le");
    let twice = labels
        .iter()
        .enumerate()
        .any(|(index, label)| labels.iter().skip(index + 1).any(|other| other == label));
    if labels.len() > MAX_LABELS || twice || !labels.iter().all(is_label) {
        return Err(MetricError::InvalidLabel);
    }
    let kind = match kind {
        Kind::Counter => Sort::Counter,
        Kind::Gauge => Sort::Gauge,
        Kind::Histogram(bounds) => {
            let ascend = bounds.iter().zip(bounds.iter().skip(1)).all(|(one, next)| one < next);
            if !ascend || bounds.len() > 32 || bounds.iter().any(|bound| !bound.is_finite()) {
                return Err(MetricError::InvalidValue);
            }
            Sort::Histogram(bounds.to_vec())
        }
    };
    METRICS.with(|metrics| {
        let mut metrics = metrics.borrow_mut();
        let index = match metrics.iter().position(|metric| metric.name == name) {
            Some(index) => {
                let same =
                    metrics.get(index).is_some_and(|metric| metric.kind == kind && metric.labels == labels);
                if !same {
                    return Err(MetricError::Conflict);
                }
                index
            }
            None if metrics.len() >= MAX_METRICS => return Err(MetricError::TooMany),
            None => {
                let labels = owned(labels);
                metrics.push(Metric { name: name.to_owned(), kind, labels, series: BTreeMap::new() });
                metrics.len() - 1
            }
        };
        u32::try_from(index).map_err(|_| MetricError::TooMany)
    })
}

pub(crate) fn add(metric: u32, values: &[&str], amount: f64) -> Result<(), MetricError> {
    let shrinks = amount < 0.0;
    change(metric, values, amount, |sort| match sort {
        Sort::Counter if shrinks => Err(MetricError::InvalidValue),
        Sort::Counter | Sort::Gauge => Ok(Box::new(move |series| *series += amount)),
        Sort::Histogram(_) => Err(MetricError::Unknown),
    })
}

pub(crate) fn set(metric: u32, values: &[&str], value: f64) -> Result<(), MetricError> {
    change(metric, values, value, |sort| match sort {
        Sort::Gauge => Ok(Box::new(move |series| *series = value)),
        Sort::Counter | Sort::Histogram(_) => Err(MetricError::Unknown),
    })
}

pub(crate) fn observe(metric: u32, values: &[&str], value: f64) -> Result<(), MetricError> {
    change(metric, values, value, |sort| match sort {
        Sort::Histogram(_) => Ok(Box::new(|series| *series += 1.0)),
        Sort::Counter | Sort::Gauge => Err(MetricError::Unknown),
    })
}

/// What was counted under that name, with these values of the labels; of a histogram, how many values.
pub(crate) fn counted(name: &str, values: &[&str]) -> Option<f64> {
    METRICS.with(|metrics| {
        let metrics = metrics.borrow();
        metrics.iter().find(|metric| metric.name == name)?.series.get(&owned(values)).copied()
    })
}

type Doing = Box<dyn FnOnce(&mut f64)>;

fn change(
    metric: u32,
    values: &[&str],
    value: f64,
    doing: impl FnOnce(&Sort) -> Result<Doing, MetricError>,
) -> Result<(), MetricError> {
    METRICS.with(|metrics| {
        let mut metrics = metrics.borrow_mut();
        let index = usize::try_from(metric).map_err(|_| MetricError::Unknown)?;
        let metric = metrics.get_mut(index).ok_or(MetricError::Unknown)?;
        if metric.labels.len() != values.len() {
            return Err(MetricError::Unknown);
        }
        if values.iter().any(|value| value.len() > MAX_LABEL_VALUE) {
            return Err(MetricError::InvalidLabel);
        }
        let doing = doing(&metric.kind)?;
        if !value.is_finite() {
            return Err(MetricError::InvalidValue);
        }
        doing(metric.series.entry(owned(values)).or_default());
        Ok(())
    })
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(fits)
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use crate::MetricError;
    use crate::metrics::{Counter, Gauge, Histogram};
    use crate::testing::metric;

    #[test]
    fn the_double_holds_to_the_contract() {
        assert_eq!(Counter::define("a_total", "", &[]), Err(MetricError::InvalidName));
        assert_eq!(Counter::define("a", "", &["le"]), Err(MetricError::InvalidLabel));
        assert_eq!(Histogram::define("a", "", &[2.0, 1.0], &[]), Err(MetricError::InvalidValue));
        let counter = Counter::define("a", "", &["b"]).unwrap();
        assert_eq!(Counter::define("a", "", &["b"]), Ok(counter));
        assert_eq!(Gauge::define("a", "", &["b"]), Err(MetricError::Conflict));
        assert_eq!(counter.add(&[], 1.0), Err(MetricError::Unknown));
        assert_eq!(counter.add(&["x"], -1.0), Err(MetricError::InvalidValue));
        assert_eq!(counter.add(&["x"], 1.5), Ok(()));
        assert_eq!(counter.add(&["x"], 1.0), Ok(()));
        let gauge = Gauge::define("g", "", &[]).unwrap();
        assert_eq!((gauge.set(&[], 3.0), gauge.add(&[], -4.0)), (Ok(()), Ok(())));
        let histogram = Histogram::define("h", "", &[], &[]).unwrap();
        assert_eq!((histogram.observe(&[], 1.0), histogram.observe(&[], 9.0)), (Ok(()), Ok(())));
        assert_eq!(metric("a", &["x"]), Some(2.5));
        assert_eq!(metric("a", &["y"]), None);
        assert_eq!((metric("g", &[]), metric("h", &[])), (Some(-1.0), Some(2.0)));
    }
}
