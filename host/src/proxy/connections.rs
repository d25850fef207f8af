//! How many connections clients have: counted, limited, and waited for at the end where they have not been served yet.
//! Knows no listeners and no descriptors.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The connections of all listeners. Cloning shares the count.
#[derive(Debug, Clone)]
pub struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    budget: Budget,
    open: Gauge,
    refused: Counter,
    /// Those of which no request came yet, and listeners that may have some.
    fresh: AtomicUsize,
}

/// What there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Connections that are served.
    pub served: usize,
    /// Connections beyond them whose request is read and answered; the next ones are ended at once.
    pub told: usize,
}

/// A connection that is open; counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Connections,
    pub(crate) standing: Standing,
}

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Served,
    /// It is told that there are too many.
    Told,
    Closed,
}

/// Something that a request may come of yet; waited for until this is dropped.
#[derive(Debug)]
pub struct Fresh(Connections);

impl Connections {
    /// Registers `edgewright_client_connections` and `edgewright_client_connections_refused_total`.
    pub fn register(budget: Budget, registry: &mut Registry) -> Self {
        let shared = Shared {
            budget,
            open: Gauge::default(),
            refused: Counter::default(),
            fresh: AtomicUsize::new(0),
        };
        registry.register(
            "edgewright_client_connections",
            "Connections that clients have open",
            shared.open.clone(),
        );
        registry.register(
            "edgewright_client_connections_refused",
            "Connections of clients that were one too many",
            shared.refused.clone(),
        );
        Self(Arc::new(shared))
    }

    /// Counts a connection. `limit` is the configuration's; without one, it is as many as there is room for.
    pub(crate) fn enter(&self, limit: Option<u32>) -> Place {
        let Budget { served, told } = self.0.budget;
        let most = limit.map_or(served, |limit| limit as usize);
        let before = usize::try_from(self.0.open.inc()).unwrap_or(0);
        let standing = if before < most {
            Standing::Served
        } else if before < most.saturating_add(told) {
            Standing::Told
        } else {
            Standing::Closed
        };
        if standing != Standing::Served {
            self.0.refused.inc();
        }
        Place { connections: self.clone(), standing }
    }

    /// Has the end of the process wait for a first request.
    pub fn fresh(&self) -> Fresh {
        self.0.fresh.fetch_add(1, SeqCst);
        Fresh(self.clone())
    }

    /// Whether a first request may come yet.
    pub fn any_fresh(&self) -> bool {
        self.0.fresh.load(SeqCst) > 0
    }

    /// How many were refused.
    #[cfg(test)]
    fn refused(&self) -> u64 {
        self.0.refused.get()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.0.open.dec();
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.0.0.fresh.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_is_told_and_the_next_is_closed() {
        let budget = Budget { served: 3, told: 1 };
        let check = |limit: Option<u32>, expected: &[Standing]| {
            let connections = Connections::register(budget, &mut Registry::default());
            let places: Vec<_> = expected.iter().map(|_| connections.enter(limit)).collect();
            assert_eq!(places.iter().map(|place| place.standing).collect::<Vec<_>>(), expected);
            let refused = expected.iter().filter(|standing| **standing != Standing::Served).count();
            assert_eq!(connections.refused(), refused as u64);
            drop(places);
            assert_eq!(connections.enter(limit).standing, Standing::Served, "places are given back");
        };
        use Standing::{Closed, Served, Told};
        check(None, &[Served, Served, Served, Told, Closed, Closed]);
        check(Some(1), &[Served, Told, Closed]);
    }
}
