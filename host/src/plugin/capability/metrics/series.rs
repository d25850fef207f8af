//! The value of one metric with one set of label values: atomics, no lock. Must not know its name.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Change, Kind};

/// A number, or the counts of a histogram.
#[derive(Debug)]
pub(super) enum Series {
    Number(Number),
    Histogram {
        bounds: Vec<f64>,
        /// One more than bounds: the last counts what is over all of them.
        counts: Vec<AtomicU64>,
        sum: Number,
    },
}

/// A floating point number that many threads change.
#[derive(Debug)]
pub(super) struct Number(AtomicU64);

impl Number {
    fn new() -> Self {
        Self(AtomicU64::new(0.0_f64.to_bits()))
    }

    pub(super) fn value(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    fn add(&self, amount: f64) {
        let sum = |bits: u64| Some((f64::from_bits(bits) + amount).to_bits());
        // It never gives up.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}

impl Series {
    pub(super) fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Counter | Kind::Gauge => Self::Number(Number::new()),
            Kind::Histogram(bounds) => Self::Histogram {
                bounds: bounds.clone(),
                counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
                sum: Number::new(),
            },
        }
    }

    pub(super) fn change(&self, change: Change) {
        match (self, change) {
            (Self::Number(number), Change::Add(amount)) => number.add(amount),
            (Self::Number(number), Change::Set(value)) => number.set(value),
            (Self::Histogram { bounds, counts, sum }, Change::Observe(value)) => {
                if let Some(count) = counts.get(bounds.partition_point(|bound| *bound < value)) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                sum.add(value);
            }
            // The kind of the metric was asked before.
            (Self::Number(_), Change::Observe(_)) | (Self::Histogram { .. }, _) => {}
        }
    }
}
