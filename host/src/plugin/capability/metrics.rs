//! Metrics that plugins define: WIT `metrics`. One board for all of them, so that names fit together and series
//! are bounded; a set of meters for each plugin. Must not know what is measured.

mod board;
mod metric;
mod name;
mod series;
mod share;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

pub(in crate::plugin) use self::board::{Board, Shown};
pub(in crate::plugin) use self::metric::Edition;
use self::metric::Metric;
use self::share::{Amount, Share};

/// Metrics of one plugin.
const MAX_METRICS: usize = 100;
/// Definitions of one plugin, those that later ones took the name of included: ten of each metric.
const MAX_DEFINITIONS: usize = 1_000;
/// Bytes of a label's value.
const MAX_LABEL_VALUE: usize = 128;
/// Bytes that a scrape writes for one plugin: 1,000 histograms with the usual bounds and a few labels.
const MAX_TEXT: usize = 2 << 20;

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
    share: Share,
    /// Series that there may be.
    limit: AtomicUsize,
    editions: AtomicU64,
}

#[derive(Debug, Default)]
struct Defined {
    /// By id. Those that a later edition has replaced stay, for instances that still have their ids.
    all: Vec<Arc<Metric>>,
    current: HashMap<Box<str>, u32>,
}

impl Meters {
    pub(super) fn new(plugin: &Arc<str>, board: &Arc<Board>) -> Self {
        Self {
            plugin: Arc::clone(plugin),
            board: Arc::clone(board),
            defined: RwLock::default(),
            share: Share::default(),
            limit: AtomicUsize::new(0),
            editions: AtomicU64::new(0),
        }
    }

    /// The plugin is loaded, and may have so many series from now on. What is over it stays.
    pub(super) fn allow(&self, series: usize) -> Edition {
        self.limit.store(series, Ordering::Relaxed);
        Edition(self.editions.fetch_add(1, Ordering::Relaxed))
    }

    /// `edition` is that of the plugin that asks. Where two of them differ, the later one has the name.
    pub(in crate::plugin) fn define(
        &self,
        edition: Edition,
        name: &str,
        help: &str,
        kind: Kind,
        labels: Vec<String>,
    ) -> Result<u32, Refused> {
        name::check(name)?;
        name::check_labels(&labels)?;
        let kind = name::checked_kind(kind)?;
        {
            let defined = self.defined.read().unwrap_or_else(PoisonError::into_inner);
            let same = defined.current(name).filter(|(_, metric)| metric.is_as(name, &kind, &labels));
            if let Some((id, metric)) = same {
                metric.carry_on(edition);
                return Ok(id);
            }
        }
        self.define_anew(edition, name, help, kind, labels)
    }

    fn define_anew(
        &self,
        edition: Edition,
        name: &str,
        help: &str,
        kind: Kind,
        labels: Vec<String>,
    ) -> Result<u32, Refused> {
        let mut defined = self.defined.write().unwrap_or_else(PoisonError::into_inner);
        let known = defined.known(name, &kind, &labels);
        let current = defined.current(name);
        if let (Some((current, metric)), Some((id, _))) = (&current, &known)
            && current == id
        {
            metric.carry_on(edition);
            return Ok(*id);
        }
        let before = current.map(|(_, metric)| metric);
        let later = match before.as_ref().map(|before| before.edition().cmp(&edition)) {
            Some(std::cmp::Ordering::Equal) => return Err(Refused::Conflict),
            // An instance of an earlier edition is set up: it may count, and nobody sees it.
            Some(std::cmp::Ordering::Greater) => false,
            Some(std::cmp::Ordering::Less) => true,
            None if defined.current.len() >= MAX_METRICS => return Err(Refused::TooMany),
            None => true,
        };
        if known.is_none() && defined.all.len() >= MAX_DEFINITIONS {
            return Err(Refused::TooMany);
        }
        let make = || Arc::new(Metric::new(edition, name, name::help(help), kind, labels));
        let (id, metric) = match known {
            Some((id, metric)) => (id, metric),
            None => (u32::try_from(defined.all.len()).map_err(|_| Refused::TooMany)?, make()),
        };
        if later {
            // What it would take the place of stays where it can't be shown.
            self.board.show(&self.plugin, &metric)?;
            metric.revive(edition);
            if let Some(before) = before {
                self.retire(&before);
            }
            defined.current.insert(name.into(), id);
        }
        if usize::try_from(id) == Ok(defined.all.len()) {
            defined.all.push(metric);
        }
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
        let fits = |text| self.share.fits(text, self.bound()) && self.board.fits(text);
        if let Some(series) = metric.series(&self.plugin, values, fits, |text| self.take(text))? {
            series.change(change);
        }
        Ok(())
    }

    fn bound(&self) -> Amount {
        Amount { series: self.limit.load(Ordering::Relaxed), text: MAX_TEXT }
    }

    fn take(&self, text: usize) -> bool {
        if !self.share.take(text, self.bound()) {
            return false;
        }
        let fits = self.board.take(text);
        if !fits {
            self.share.give_back(Amount { series: 1, text });
        }
        fits
    }

    /// A metric is replaced: its series are shown no more.
    fn retire(&self, metric: &Metric) {
        let gone = metric.retire();
        self.share.give_back(gone);
        self.board.give_back(gone);
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.board.give_back(self.share.taken());
        let defined = self.defined.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.board.hide(&defined.all);
    }
}

impl Defined {
    fn metric(&self, id: u32) -> Option<Arc<Metric>> {
        self.all.get(usize::try_from(id).ok()?).cloned()
    }

    /// What has the name.
    fn current(&self, name: &str) -> Option<(u32, Arc<Metric>)> {
        let id = *self.current.get(name)?;
        Some((id, self.metric(id)?))
    }

    /// The definition that is just the same, whether it has its name or not.
    fn known(&self, name: &str, kind: &Kind, labels: &[String]) -> Option<(u32, Arc<Metric>)> {
        let index = self.all.iter().position(|metric| metric.is_as(name, kind, labels))?;
        let id = u32::try_from(index).ok()?;
        Some((id, self.metric(id)?))
    }
}

#[cfg(test)]
mod tests;
