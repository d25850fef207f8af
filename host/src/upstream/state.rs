//! What is known of a peer from what happened to it: counts, and whether it is left out. Atomics alone: it is read
//! and written on the request path. Knows no balancing.
//!
//! Every value stands for itself, so all orderings are relaxed.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use std::time::Duration;

use crate::config::model::Ejection;

use super::clock::{millis, now};

/// After an ejection ends, one request at a time tries the peer, for so long at most: in the usual case its outcome
/// is known by then.
const TRIAL: Duration = Duration::from_secs(1);

/// What a peer's state is kept in, shared by all who use the peer.
#[derive(Debug, Default)]
pub(super) struct PeerState {
    pub(super) in_flight: AtomicUsize,
    pub(super) requests: AtomicU64,
    /// Connections that failed, responses of 500 and more, and those that did not come or broke.
    pub(super) failures: AtomicU64,
    pub(super) ejections: AtomicU64,
    connect_failures_in_row: AtomicU32,
    server_errors_in_row: AtomicU32,
    ejections_in_row: AtomicU32,
    /// Point in time; zero while it is not ejected.
    ejected_until: AtomicU64,
    /// Whether a request tries it after an ejection.
    tried: AtomicBool,
    /// What it is ejected for.
    cause: AtomicU8,
    /// What the last active checks say: [`UNCHECKED`], [`UP`] or [`DOWN`].
    checked: AtomicU8,
    /// Checks that found something else than what [`Self::checked`] says.
    checks_in_row: AtomicU32,
    /// Since when it is back; zero where that is long ago.
    back_since: AtomicU64,
}

const UNCHECKED: u8 = 0;
const UP: u8 = 1;
const DOWN: u8 = 2;

/// Why a peer is ejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    ConnectFailures,
    ServerErrors,
}

impl PeerState {
    /// A peer that comes to an upstream which others are in already.
    pub(super) fn newcomer() -> Self {
        Self { back_since: AtomicU64::new(now()), ..Self::default() }
    }

    /// Whether it is left out at this moment.
    pub(super) fn is_out(&self) -> bool {
        self.checked.load(Relaxed) == DOWN || self.ejected_until.load(Relaxed) != 0
    }

    /// Whether a request may go to it. Where its time is over, the first one to ask may, and is to report.
    pub(super) fn admits(&self) -> bool {
        if self.checked.load(Relaxed) == DOWN {
            return false;
        }
        // The clock is read only for a peer that failed.
        match self.ejected_until.load(Relaxed) {
            0 => true,
            until => {
                let now = now();
                let trial = now.saturating_add(millis(TRIAL));
                let tries = until <= now
                    && self.ejected_until.compare_exchange(until, trial, Relaxed, Relaxed).is_ok();
                if tries {
                    self.tried.store(true, Relaxed);
                }
                tries
            }
        }
    }

    /// Whether its time is over, so that [`Self::admits`] lets a request try it.
    pub(super) fn is_due(&self) -> bool {
        let until = self.ejected_until.load(Relaxed);
        until != 0 && until <= now() && self.checked.load(Relaxed) != DOWN
    }

    /// For how long it is ejected yet, if it is.
    pub(super) fn ejected_for(&self) -> Option<(Duration, Cause)> {
        let until = self.ejected_until.load(Relaxed);
        let cause = if self.cause.load(Relaxed) == 0 { Cause::ConnectFailures } else { Cause::ServerErrors };
        (until != 0).then(|| (Duration::from_millis(until.saturating_sub(now())), cause))
    }

    /// What active checks say, if there are any.
    pub(super) fn is_checked_up(&self) -> Option<bool> {
        match self.checked.load(Relaxed) {
            UNCHECKED => None,
            checked => Some(checked == UP),
        }
    }

    /// Takes in what an active check found: so many of one kind in a row change how the peer stands, and the first
    /// one of all. Says whether that is news. Called by one task at a time.
    pub(super) fn check(&self, is_well: bool, healthy_after: u32, unhealthy_after: u32) -> bool {
        let stands = self.checked.load(Relaxed);
        let found = if is_well { UP } else { DOWN };
        if stands == found {
            self.checks_in_row.store(0, Relaxed);
            return false;
        }
        let row = self.checks_in_row.fetch_add(1, Relaxed).saturating_add(1);
        if stands != UNCHECKED && row < if is_well { healthy_after } else { unhealthy_after } {
            return false;
        }
        self.checks_in_row.store(0, Relaxed);
        self.checked.store(found, Relaxed);
        if stands == DOWN {
            self.comes_back();
        }
        // That a peer is as it was taken to be, is no news.
        !(stands == UNCHECKED && is_well)
    }

    /// A connection to it failed. Says whether that ejects it.
    pub(super) fn connect_failed(&self, rules: &Ejection) -> bool {
        self.failures.fetch_add(1, Relaxed);
        let row = self.connect_failures_in_row.fetch_add(1, Relaxed).saturating_add(1);
        rules.connect_failures.is_some_and(|most| row >= most) && self.eject(rules, Cause::ConnectFailures)
    }

    /// It answered with a status of 500 and more, or not. Says whether it should be ejected.
    pub(super) fn server_failed(&self, rules: &Ejection) -> bool {
        self.failures.fetch_add(1, Relaxed);
        let row = self.server_errors_in_row.fetch_add(1, Relaxed).saturating_add(1);
        self.connect_failures_in_row.store(0, Relaxed);
        // Where it is tried after an ejection and fails still, once is enough.
        let ejects = rules.server_errors.is_some_and(|most| row >= most || self.tried.load(Relaxed));
        if !ejects && self.tried.swap(false, Relaxed) {
            // It was left out since it could not be connected to, and now it can.
            self.ejected_until.store(0, Relaxed);
            self.ejections_in_row.store(0, Relaxed);
            self.comes_back();
        }
        ejects
    }

    /// Leaves it out for a while. Says whether that is news: requests that were on their way while it was ejected
    /// tell nothing new.
    pub(super) fn eject(&self, rules: &Ejection, cause: Cause) -> bool {
        if self.ejected_until.load(Relaxed) != 0 && !self.tried.swap(false, Relaxed) {
            return false;
        }
        let times = self.ejections_in_row.fetch_add(1, Relaxed).min(16);
        let time = rules.time.saturating_mul(1 << times).min(rules.max_time);
        self.cause.store(u8::from(cause == Cause::ServerErrors), Relaxed);
        self.server_errors_in_row.store(0, Relaxed);
        self.ejected_until.store(now().saturating_add(millis(time)), Relaxed);
        self.ejections.fetch_add(1, Relaxed);
        true
    }

    /// It answered as it should. Mostly reads: the peer's line is not fought for.
    pub(super) fn answered(&self) {
        for row in [&self.connect_failures_in_row, &self.server_errors_in_row, &self.ejections_in_row] {
            if row.load(Relaxed) != 0 {
                row.store(0, Relaxed);
            }
        }
        if self.ejected_until.load(Relaxed) != 0 && self.ejected_until.swap(0, Relaxed) != 0 {
            self.tried.store(false, Relaxed);
            self.comes_back();
        }
    }

    fn comes_back(&self) {
        self.back_since.store(now(), Relaxed);
    }

    /// The share of its weight that it gets by now, while it starts slowly: from a tenth to all.
    pub(super) fn warmth(&self, slow_start: Duration) -> f32 {
        let since = self.back_since.load(Relaxed);
        if slow_start.is_zero() || since == 0 {
            return 1.0;
        }
        let age = now().saturating_sub(since);
        if age >= millis(slow_start) {
            self.back_since.store(0, Relaxed);
            return 1.0;
        }
        (age as f32 / millis(slow_start) as f32).max(0.1)
    }
}

#[cfg(test)]
mod tests;
