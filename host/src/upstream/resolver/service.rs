//! A look-up of a service: its SRV records, and the addresses of their targets (RFC 2782). Knows no schedule.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::proto::rr::rdata::SRV;

use crate::upstream::name::{Family, Outcome, Target};

use super::lookup::Servers;

/// Targets of a service that are looked up: more is no service that anybody runs behind one name.
const MAX_TARGETS: usize = 64;

/// What a weight of a peer may be at most.
const MOST: u32 = 256;

/// The peers of a service, of all its priorities.
pub(super) async fn ask(servers: &Servers, name: &str) -> Outcome {
    let (mut records, mut ttl) = match servers.services(name).await {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    // In a fixed order, so that servers that rotate their answers don't change the peers each time.
    records.sort_by(|a, b| (a.priority, a.port, &a.target).cmp(&(b.priority, b.port, &b.target)));
    records.truncate(MAX_TARGETS);
    let mut targets: Vec<Target> = Vec::new();
    let (mut priority, mut rank) = (None, 0);
    let mut missing = None;
    for record in &records {
        match addresses(servers, record).await {
            Ok((found, its_ttl)) => {
                ttl = ttl.min(its_ttl);
                if found.is_empty() {
                    continue;
                }
                if priority.replace(record.priority).is_some_and(|before| before != record.priority) {
                    rank += 1;
                }
                let target = |address| Target { address, weight: record.weight, rank };
                targets.extend(found.into_iter().map(target));
            }
            // The others would have to be waited for as long.
            Err(failure) => {
                missing = Some(failure);
                break;
            }
        }
    }
    match missing {
        Some(failure) if targets.is_empty() => Outcome::Failed(failure),
        None if targets.is_empty() => Outcome::NoRecords { ttl: Some(ttl) },
        missing => Outcome::Service { targets, ttl, missing },
    }
}

/// The addresses of one record's target, of both kinds.
///
/// # Errors
/// No answer: why.
async fn addresses(servers: &Servers, record: &SRV) -> Result<(Vec<SocketAddr>, Duration), String> {
    let mut found = Vec::new();
    let mut least = Duration::MAX;
    if record.target.is_root() {
        // "The service is decidedly not available at this domain."
        return Ok((found, least));
    }
    let name = record.target.to_ascii();
    for family in [Family::V4, Family::V6] {
        match servers.ask(&name, family).await {
            Outcome::Found { addresses, ttl } => {
                least = least.min(ttl);
                found.extend(addresses.into_iter().map(|ip| SocketAddr::new(ip, record.port)));
            }
            Outcome::Failed(failure) => return Err(failure),
            _ => {}
        }
    }
    Ok((found, least))
}

/// Weights of a service in the range of those of peers; one of 0 is to get as little as may be.
pub(in crate::upstream) fn weights(targets: &[Target]) -> Vec<u16> {
    let most = targets.iter().map(|target| u32::from(target.weight)).max().unwrap_or_default();
    let scaled = |weight: u32| if most > MOST { weight * MOST / most } else { weight };
    targets
        .iter()
        .map(|target| u16::try_from(scaled(target.weight.into()).max(1)).unwrap_or(u16::MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_keep_their_proportions() {
        let check = |given: &[u16], expected: &[u16]| {
            let target =
                |weight: &u16| Target { address: ([10, 0, 0, 1], 80).into(), weight: *weight, rank: 0 };
            assert_eq!(weights(&given.iter().map(target).collect::<Vec<_>>()), expected, "{given:?}");
        };
        check(&[], &[]);
        check(&[0, 0], &[1, 1]);
        check(&[10, 30], &[10, 30]);
        check(&[65535, 32768, 1], &[256, 128, 1]);
    }
}
