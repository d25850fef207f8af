//! Metrics of the plugin's own, in the proxy's `/metrics`: WIT `metrics`. Granted by `grants = { metrics = true }`
//! in the manifest. Must not know how they are kept.
//!
//! ```
//! use edgewright_sdk::metrics::{Counter, Histogram};
//!
//! # fn main() -> Result<(), edgewright_sdk::MetricError> {
//! // In `configure`: shown as `edgewright_plugin_custom_refused_total{plugin="…",why="…"}`.
//! let refused = Counter::define("refused", "Requests that were refused", &["why"])?;
//! let size = Histogram::define("size_bytes", "Size of tokens", &[1e3, 1e4, 1e5], &[])?;
//! // In a phase:
//! refused.add(&["no-key"], 1.0)?;
//! size.observe(&[], 812.0)?;
//! # Ok(())
//! # }
//! ```

use crate::MetricError;
use crate::host::metrics as host;

/// What a metric is: WIT `metrics.kind`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind<'a> {
    Counter,
    Gauge,
    Histogram(&'a [f64]),
}

/// A metric that only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter(u32);

/// A metric that goes up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauge(u32);

/// A metric that counts values by upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram(u32);

impl Counter {
    /// Makes a counter known, with the names of its labels; the proxy adds `_total` to its name.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn define(name: &str, help: &str, labels: &[&str]) -> Result<Self, MetricError> {
        host::define(name, help, Kind::Counter, labels).map(Self)
    }

    /// Adds to it; `values` are those of the labels, in order.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn add(self, values: &[&str], amount: f64) -> Result<(), MetricError> {
        host::add(self.0, values, amount)
    }
}

impl Gauge {
    /// Makes a gauge known, with the names of its labels.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn define(name: &str, help: &str, labels: &[&str]) -> Result<Self, MetricError> {
        host::define(name, help, Kind::Gauge, labels).map(Self)
    }

    /// Adds to it, also less than nothing.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn add(self, values: &[&str], amount: f64) -> Result<(), MetricError> {
        host::add(self.0, values, amount)
    }

    /// Sets it.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn set(self, values: &[&str], value: f64) -> Result<(), MetricError> {
        host::set(self.0, values, value)
    }
}

impl Histogram {
    /// Makes a histogram known, with its upper bounds (none: those for seconds from 0.001 to 10) and the names of
    /// its labels.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn define(name: &str, help: &str, bounds: &[f64], labels: &[&str]) -> Result<Self, MetricError> {
        host::define(name, help, Kind::Histogram(bounds), labels).map(Self)
    }

    /// Counts a value.
    ///
    /// # Errors
    /// See [`MetricError`].
    pub fn observe(self, values: &[&str], value: f64) -> Result<(), MetricError> {
        host::observe(self.0, values, value)
    }
}
