//! One metric and its series. Must not know where it is shown.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::series::Series;
use super::share::Amount;
use super::{Change, Kind, Refused};

/// In front of every name.
pub(super) const PREFIX: &str = "edgewright_plugin_custom_";

/// The longest ending that the text format puts behind a name: `_bucket`.
const ENDING: usize = 7;

/// Of one line, beside names and labels: the bound of a bucket, the value, and what stands between.
const NUMBERS: usize = 70;

/// Which load of a plugin defines: later ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::plugin) struct Edition(pub(super) u64);

/// Values of a metric's labels, and what was counted with them.
pub(super) type Labelled = (Arc<[String]>, Arc<Series>);

/// One metric.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: Box<str>,
    pub(super) kind: Kind,
    pub(super) help: String,
    pub(super) labels: Vec<String>,
    /// Of the latest that defined it.
    edition: AtomicU64,
    series: RwLock<All>,
}

/// The series of one metric.
#[derive(Debug, Default)]
struct All {
    /// Another definition has the name: nothing is counted any more.
    retired: bool,
    /// By the values of the labels.
    series: HashMap<Arc<[String]>, Arc<Series>>,
    /// Bytes that a scrape writes for them.
    text: usize,
}

impl Metric {
    /// Counts nothing until it is [revived](Self::revive).
    pub(super) fn new(edition: Edition, name: &str, help: String, kind: Kind, labels: Vec<String>) -> Self {
        let series = RwLock::new(All { retired: true, ..All::default() });
        Self { name: name.into(), kind, help, labels, edition: AtomicU64::new(edition.0), series }
    }

    pub(super) fn edition(&self) -> Edition {
        Edition(self.edition.load(Ordering::Relaxed))
    }

    /// It is defined again.
    pub(super) fn carry_on(&self, edition: Edition) {
        self.edition.fetch_max(edition.0, Ordering::Relaxed);
    }

    /// It has its name, perhaps again.
    pub(super) fn revive(&self, edition: Edition) {
        self.carry_on(edition);
        self.series.write().unwrap_or_else(PoisonError::into_inner).retired = false;
    }

    /// Ends it, and says what it took.
    pub(super) fn retire(&self) -> Amount {
        let mut all = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::replace(&mut *all, All { retired: true, ..All::default() });
        drop(all);
        Amount { series: ended.series.len(), text: ended.text }
    }

    pub(super) fn is_as(&self, name: &str, kind: &Kind, labels: &[String]) -> bool {
        *self.name == *name && self.kind == *kind && self.labels == labels
    }

    /// Whether a change is one of its kind.
    ///
    /// # Errors
    /// It is not, or its value can't be counted.
    pub(super) fn admits(&self, change: Change) -> Result<(), Refused> {
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

    /// The series of these values; nothing where there is none, and none will be.
    ///
    /// # Errors
    /// There is no room for one more: said by `fits` before anything is held, and by `take` in the end. Both
    /// are told the bytes of its text.
    pub(super) fn series(
        &self,
        plugin: &str,
        values: Vec<String>,
        fits: impl FnOnce(usize) -> bool,
        take: impl FnOnce(usize) -> bool,
    ) -> Result<Option<Arc<Series>>, Refused> {
        {
            let all = self.series.read().unwrap_or_else(PoisonError::into_inner);
            let known = all.series.get(values.as_slice());
            if known.is_some() || all.retired {
                return Ok(known.cloned());
            }
        }
        let text = self.text(plugin, &values);
        // A plugin that goes on past its limit must not keep others from counting.
        if !fits(text) {
            return Err(Refused::TooMany);
        }
        let mut all = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let known = all.series.get(values.as_slice());
        if known.is_some() || all.retired {
            return Ok(known.cloned());
        }
        if !take(text) {
            return Err(Refused::TooMany);
        }
        let series = Arc::new(Series::new(&self.kind));
        all.text += text;
        all.series.insert(values.into(), Arc::clone(&series));
        Ok(Some(series))
    }

    /// All series, for whoever writes them when nothing is held any more.
    pub(super) fn copied(&self) -> Vec<Labelled> {
        let all = self.series.read().unwrap_or_else(PoisonError::into_inner);
        all.series.iter().map(|(values, series)| (Arc::clone(values), Arc::clone(series))).collect()
    }

    /// As much as a scrape may write for one series, in bytes.
    fn text(&self, plugin: &str, values: &[String]) -> usize {
        let label = |name: &str, value: &str| name.len() + escaped(value) + "=\"\",".len();
        let own: usize = self.labels.iter().zip(values).map(|(name, value)| label(name, value)).sum();
        let line = PREFIX.len() + self.name.len() + ENDING + label("plugin", plugin) + own + NUMBERS;
        let lines = match &self.kind {
            Kind::Counter | Kind::Gauge => 1,
            // One for each bound, one for what is above, the sum and the count.
            Kind::Histogram(bounds) => bounds.len() + 3,
        };
        line * lines
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> impl Sized + '_ {
        self.series.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn escaped(value: &str) -> usize {
    value.len() + value.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | b'\n')).count()
}
