//! Metrics that plugins define: WIT `metrics`. One board for all of them, so that names fit together and series
//! are bounded; a set of meters for each plugin. Must not know what is measured.

mod board;
mod name;
mod series;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

pub(in crate::plugin) use self::board::{Board, Shown};
use self::series::Series;

/// Metrics of one plugin.
const MAX_METRICS: usize = 100;
/// Bytes of a label's value.
const MAX_LABEL_VALUE: usize = 128;

/// WIT `metrics.kind`.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::plugin) enum Kind {
    Counter,
    Gauge,
    /// Upper bounds.
    Histogram(Vec<f64>),
}

/// WIT `metrics.metric-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum Refused {
    InvalidName,
    InvalidLabel,
    InvalidValue,
    Conflict,
    TooMany,
    Unknown,
}

/// What is done to a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::plugin) enum Change {
    Add(f64),
    Set(f64),
    Observe(f64),
}

/// The metrics of one plugin.
#[derive(Debug)]
pub(in crate::plugin) struct Meters {
    plugin: Arc<str>,
    board: Arc<Board>,
    defined: RwLock<Defined>,
    series: AtomicUsize,
    limit: AtomicUsize,
}

#[derive(Debug, Default)]
struct Defined {
    /// By id. Those that a newer version has replaced stay, for instances that still have their ids.
    all: Vec<Arc<Metric>>,
    current: HashMap<Box<str>, u32>,
}

/// One metric.
#[derive(Debug)]
struct Metric {
    kind: Kind,
    help: String,
    labels: Vec<String>,
    /// Of the component that defined it.
    version: Arc<str>,
    /// By the values of the labels.
    series: RwLock<HashMap<Vec<String>, Arc<Series>>>,
}

impl Meters {
    pub(super) fn new(plugin: &Arc<str>, board: &Arc<Board>) -> Self {
        Self {
            plugin: Arc::clone(plugin),
            board: Arc::clone(board),
            defined: RwLock::default(),
            series: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
        }
    }

    /// From now on, there may be this many series. What is over it stays.
    pub(super) fn allow(&self, series: usize) {
        self.limit.store(series, Ordering::Relaxed);
    }

    /// `version` is that of the component that asks.
    pub(in crate::plugin) fn define(
        &self,
        version: &Arc<str>,
        name: &str,
        help: &str,
        kind: Kind,
        labels: Vec<String>,
    ) -> Result<u32, Refused> {
        name::check(name)?;
        name::check_labels(&labels)?;
        let kind = name::checked_kind(kind)?;
        let mut defined = self.defined.write().unwrap_or_else(PoisonError::into_inner);
        let before = defined.current.get(name).and_then(|id| Some((*id, defined.metric(*id)?)));
        if let Some((id, metric)) = before {
            if metric.kind == kind && metric.labels == labels {
                return Ok(id);
            }
            if metric.version == *version {
                return Err(Refused::Conflict);
            }
            self.forget(&metric);
        } else if defined.current.len() >= MAX_METRICS {
            return Err(Refused::TooMany);
        }
        let id = u32::try_from(defined.all.len()).map_err(|_| Refused::TooMany)?;
        let (version, help) = (Arc::clone(version), name::help(help));
        let metric = Arc::new(Metric { kind, help, labels, version, series: RwLock::default() });
        self.board.show(&self.plugin, name, &metric)?;
        defined.all.push(metric);
        defined.current.insert(name.into(), id);
        Ok(id)
    }

    pub(in crate::plugin) fn change(
        &self,
        id: u32,
        values: Vec<String>,
        change: Change,
    ) -> Result<(), Refused> {
        let metric = {
            let defined = self.defined.read().unwrap_or_else(PoisonError::into_inner);
            defined.metric(id).ok_or(Refused::Unknown)?
        };
        if metric.labels.len() != values.len() {
            return Err(Refused::Unknown);
        }
        if values.iter().any(|value| value.len() > MAX_LABEL_VALUE) {
            return Err(Refused::InvalidLabel);
        }
        metric.admits(change)?;
        self.series(&metric, values)?.change(change);
        Ok(())
    }

    fn series(&self, metric: &Metric, values: Vec<String>) -> Result<Arc<Series>, Refused> {
        let known = metric.series.read().unwrap_or_else(PoisonError::into_inner).get(&values).cloned();
        if let Some(series) = known {
            return Ok(series);
        }
        let mut all = metric.series.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = all.get(&values) {
            return Ok(Arc::clone(series));
        }
        let limit = self.limit.load(Ordering::Relaxed);
        let one_more = |series: usize| (series < limit).then_some(series + 1);
        let counted = self.series.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.map_err(|_| Refused::TooMany)?;
        if !self.board.count_one_more() {
            self.series.fetch_sub(1, Ordering::Relaxed);
            return Err(Refused::TooMany);
        }
        let series = Arc::new(Series::new(&metric.kind));
        all.insert(values, Arc::clone(&series));
        Ok(series)
    }

    /// A metric is replaced: its series are shown no more.
    fn forget(&self, metric: &Metric) {
        let mut series = metric.series.write().unwrap_or_else(PoisonError::into_inner);
        self.series.fetch_sub(series.len(), Ordering::Relaxed);
        self.board.count_less(series.len());
        series.clear();
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.board.count_less(*self.series.get_mut());
        let defined = self.defined.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.board.hide(&defined.all);
    }
}

impl Defined {
    fn metric(&self, id: u32) -> Option<Arc<Metric>> {
        self.all.get(usize::try_from(id).ok()?).cloned()
    }
}

impl Metric {
    fn admits(&self, change: Change) -> Result<(), Refused> {
        let (fits, value) = match change {
            Change::Add(value) => (!matches!(self.kind, Kind::Histogram(_)), value),
            Change::Set(value) => (self.kind == Kind::Gauge, value),
            Change::Observe(value) => (matches!(self.kind, Kind::Histogram(_)), value),
        };
        if !fits {
            return Err(Refused::Unknown);
        }
        let shrinks = self.kind == Kind::Counter && value < 0.0;
        if value.is_finite() && !shrinks { Ok(()) } else { Err(Refused::InvalidValue) }
    }
}

#[cfg(test)]
mod tests;
