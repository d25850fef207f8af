//! The import `metrics`, in the SDK's types. Must not hold logic.

use crate::MetricError;
use crate::bindings::imports::edgewright::plugin::metrics as wit_metrics;
use crate::metrics::Kind;

pub(crate) fn define(name: &str, help: &str, kind: Kind<'_>, labels: &[&str]) -> Result<u32, MetricError> {
    let kind = match kind {
        Kind::Counter => wit_metrics::Kind::Counter,
        Kind::Gauge => wit_metrics::Kind::Gauge,
        Kind::Histogram(bounds) => wit_metrics::Kind::Histogram(bounds.to_vec()),
    };
    Ok(wit_metrics::define(name, help, &kind, &owned(labels))?)
}

pub(crate) fn add(metric: u32, values: &[&str], amount: f64) -> Result<(), MetricError> {
    Ok(wit_metrics::add(metric, &owned(values), amount)?)
}

pub(crate) fn set(metric: u32, values: &[&str], value: f64) -> Result<(), MetricError> {
    Ok(wit_metrics::set(metric, &owned(values), value)?)
}

pub(crate) fn observe(metric: u32, values: &[&str], value: f64) -> Result<(), MetricError> {
    Ok(wit_metrics::observe(metric, &owned(values), value)?)
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

super::same_errors!(wit_metrics::MetricError => MetricError {
    InvalidName, InvalidLabel, InvalidValue, Conflict, TooMany, Unknown
});
