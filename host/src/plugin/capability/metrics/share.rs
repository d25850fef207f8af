//! How much of `/metrics` is taken: series, and bytes of text. Must not know what the series are.

use std::sync::atomic::{AtomicUsize, Ordering};

/// An amount, or a bound of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) series: usize,
    /// Bytes that a scrape writes for them.
    pub(super) text: usize,
}

/// What is taken of a bound that its owner knows.
#[derive(Debug, Default)]
pub(super) struct Share {
    series: AtomicUsize,
    text: AtomicUsize,
}

impl Share {
    /// Whether one more series of so many bytes would fit. It may be taken by others until it is asked for.
    pub(super) fn fits(&self, text: usize, bound: Amount) -> bool {
        self.series.load(Ordering::Relaxed) < bound.series
            && self.text.load(Ordering::Relaxed).saturating_add(text) <= bound.text
    }

    /// Takes one series, and its text, if both fit.
    pub(super) fn take(&self, text: usize, bound: Amount) -> bool {
        if !add(&self.series, 1, bound.series) {
            return false;
        }
        let fits = add(&self.text, text, bound.text);
        if !fits {
            self.series.fetch_sub(1, Ordering::Relaxed);
        }
        fits
    }

    pub(super) fn give_back(&self, amount: Amount) {
        self.series.fetch_sub(amount.series, Ordering::Relaxed);
        self.text.fetch_sub(amount.text, Ordering::Relaxed);
    }

    pub(super) fn taken(&self) -> Amount {
        Amount { series: self.series.load(Ordering::Relaxed), text: self.text.load(Ordering::Relaxed) }
    }
}

fn add(to: &AtomicUsize, amount: usize, bound: usize) -> bool {
    let sum = |taken: usize| taken.checked_add(amount).filter(|sum| *sum <= bound);
    to.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
}
