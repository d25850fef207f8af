//! What is known of a name, and how an answer changes it. Pure: knows no DNS library, no clock and no
//! upstreams.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use super::NoPeer;

/// Kinds of records, each asked for on its own: both of addresses for a host, and that of a service for a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Family {
    V4,
    V6,
    /// Of a service: its SRV records, with the addresses of their targets.
    Service,
}

/// What a look-up brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With the lowest TTL of the answer.
    Found { addresses: Vec<IpAddr>, ttl: Duration },
    /// The peers of a service, by rank, with the lowest TTL of all that led there; and why those are not all of them,
    /// where they are not.
    Service { targets: Vec<Target>, ttl: Duration, missing: Option<String> },
    /// The name does not exist (NXDOMAIN), with the TTL of that answer if it had one.
    NoName { ttl: Option<Duration> },
    /// The name exists, but not with records of this kind (NODATA).
    NoRecords { ttl: Option<Duration> },
    /// No answer, or one that says nothing about the name.
    Failed(String),
}

/// One peer of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// As its record has it: 0 to 65535.
    pub(super) weight: u16,
    /// Which of the priorities that have anybody it has, from 0.
    pub(super) rank: u16,
}

/// How long answers are used: `[dns]` of the configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) min_ttl: Duration,
    pub(super) max_ttl: Duration,
    pub(super) retry: Duration,
    pub(super) stale_max: Duration,
}

/// What is known of a name.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    v4: Records,
    v6: Records,
}

/// What is known of one kind of its records.
#[derive(Debug, Clone, Default)]
struct Records {
    last: Last,
    /// Those of the last good answer, unless they are too old to be used.
    addresses: Vec<IpAddr>,
    /// The same of a service.
    targets: Vec<Target>,
    /// When the last good answer came.
    good_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Never,
    Found,
    NoName,
    NoRecords,
    Failed,
}

/// How a name stands, as logs tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// A first look-up is still under way.
    Pending,
    Resolved,
    /// It does not resolve; peers of an earlier answer may still be in use.
    Unresolved(NoPeer),
}

impl Outcome {
    /// The word in logs and metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Outcome::Found { .. } | Outcome::Service { missing: None, .. } => "found",
            Outcome::NoName { .. } => "no-name",
            Outcome::NoRecords { .. } => "no-records",
            Outcome::Failed(_) | Outcome::Service { missing: Some(_), .. } => "failed",
        }
    }
}

impl Answer {
    /// Nothing is known of a service: it has one kind of records alone.
    pub(super) fn service() -> Self {
        Self { v6: Records { last: Last::NoRecords, ..Records::default() }, ..Self::default() }
    }

    /// The peers of a service.
    pub(super) fn targets(&self) -> &[Target] {
        &self.v4.targets
    }

    /// What is known after a look-up, and how long until the next one.
    pub(super) fn after(
        &self,
        family: Family,
        outcome: &Outcome,
        now: Instant,
        timing: &Timing,
    ) -> (Self, Duration) {
        let mut next = self.clone();
        let (records, other) = match family {
            Family::V4 | Family::Service => (&mut next.v4, &next.v6),
            Family::V6 => (&mut next.v6, &next.v4),
        };
        // Not `clamp`, which panics where the bounds are crossed.
        let bounded = |ttl: Duration| ttl.max(timing.min_ttl).min(timing.max_ttl);
        let delay = match outcome {
            Outcome::Found { addresses, ttl } => {
                *records = Records {
                    last: Last::Found,
                    addresses: addresses.clone(),
                    targets: Vec::new(),
                    good_at: Some(now),
                };
                bounded(*ttl)
            }
            // A part of the peers is better than none, and worse than the last good answer.
            Outcome::Service { missing: Some(_), .. } if !records.targets.is_empty() => {
                records.last = Last::Failed;
                timing.retry
            }
            Outcome::Service { targets, ttl, missing } => {
                *records = Records {
                    last: Last::Found,
                    addresses: Vec::new(),
                    targets: targets.clone(),
                    good_at: Some(now),
                };
                if missing.is_some() { timing.retry } else { bounded(*ttl) }
            }
            Outcome::NoName { ttl } | Outcome::NoRecords { ttl } => {
                records.last = match outcome {
                    Outcome::NoName { .. } => Last::NoName,
                    _ => Last::NoRecords,
                };
                let age = records.good_at.map(|at| now.saturating_duration_since(at));
                if age.is_none_or(|age| age >= timing.stale_max) {
                    records.addresses.clear();
                    records.targets.clear();
                }
                match ttl {
                    // Most names have one kind of address only: no reason to hurry for the other.
                    Some(ttl) if other.last == Last::Found => bounded(*ttl).max(timing.retry),
                    _ => timing.retry,
                }
            }
            Outcome::Failed(_) => {
                records.last = Last::Failed;
                timing.retry
            }
        };
        (next, delay)
    }

    /// The addresses to use, IPv4 first, each once.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        let mut addresses = Vec::new();
        for records in [&self.v4, &self.v6] {
            // A name that moved from one kind to the other. NXDOMAIN is about both kinds, so there the
            // other's addresses are as old.
            if records.last == Last::NoRecords && self.any(Last::Found) {
                continue;
            }
            for address in &records.addresses {
                if !addresses.contains(address) {
                    addresses.push(*address);
                }
            }
        }
        addresses
    }

    /// Whether the name had an answer or failure to every first look-up, or has addresses already.
    pub(super) fn is_settled(&self) -> bool {
        self.any(Last::Found) || !self.any(Last::Never)
    }

    pub(super) fn standing(&self) -> Standing {
        if self.any(Last::Found) {
            Standing::Resolved
        } else if self.any(Last::Never) {
            Standing::Pending
        } else {
            Standing::Unresolved(self.absence())
        }
    }

    /// Why there are no addresses, where there are none.
    pub(super) fn absence(&self) -> NoPeer {
        if self.any(Last::Failed) {
            NoPeer::ResolverFailed
        } else if self.any(Last::Never) {
            NoPeer::NotResolved
        } else if self.any(Last::NoName) {
            NoPeer::NoSuchName
        } else {
            NoPeer::NoAddresses
        }
    }

    fn any(&self, last: Last) -> bool {
        self.v4.last == last || self.v6.last == last
    }
}

#[cfg(test)]
mod tests;
