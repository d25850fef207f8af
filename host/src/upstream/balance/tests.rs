//! Which peer is chosen, by balance, weights, and what is known of the peers.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::model::HashKey;
use crate::upstream::Endpoint;
use crate::upstream::peer::Found;
use crate::upstream::set::tests::settings;
use crate::upstream::speech::Speech;
use crate::upstream::state::Cause;

use super::*;

/// Peers at these ports, with these weights.
pub(super) fn set(peers: &[(u16, u16)], balance: &Balance) -> PeerSet {
    let of_one_rank: Vec<_> = peers.iter().map(|(port, weight)| (*port, *weight, 0)).collect();
    ranked(&of_one_rank, balance)
}

/// Peers at these ports, with these weights and ranks.
fn ranked(peers: &[(u16, u16, u16)], balance: &Balance) -> PeerSet {
    let settings = settings("main", &[]);
    let peer = |(port, weight, rank): &(u16, u16, u16)| {
        let endpoint = Endpoint::Tcp(([127, 0, 0, 1], *port).into());
        let found = Found { endpoint, weight: *weight, rank: *rank, server_name: "".into(), host: None };
        Peer::new(found, &settings, &Speech::of(&settings), Arc::default())
    };
    let mut peers: Vec<Peer> = peers.iter().map(peer).collect();
    peers.sort_by_key(Peer::rank);
    PeerSet::new(peers, NoPeer::NoSuchName, balance)
}

pub(super) fn balancer(balance: &Balance) -> Balancer {
    Balancer::new(&Settings { balance: balance.clone(), ..settings("main", &[]) })
}

pub(super) fn port(hold: &Hold) -> u16 {
    hold.endpoint().address().unwrap().port()
}

pub(super) fn tried(set: &PeerSet, ports: &[u16]) -> Vec<Peer> {
    let is_one = |peer: &&Peer| ports.contains(&peer.endpoint().address().unwrap().port());
    set.peers.iter().filter(is_one).cloned().collect()
}

pub(super) fn eject(set: &PeerSet, ports: &[u16]) {
    for peer in tried(set, ports) {
        peer.state().eject(peer.ejection(), Cause::ConnectFailures);
    }
}

/// What five picks in a row give.
fn check(set: &PeerSet, ports: &[u16], expected: [Result<u16, NoPeer>; 5]) {
    let tried = tried(set, ports);
    let turns = balancer(&Balance::RoundRobin);
    let ask = Ask { key: None, tried: &tried };
    let seen = [(); 5].map(|()| turns.pick(set, &ask).map(|hold| port(&hold)));
    assert_eq!(seen, expected);
}

#[test]
fn in_turn_without_the_tried() {
    let three = set(&[(1, 1), (2, 1), (3, 1)], &Balance::RoundRobin);
    check(&three, &[], [Ok(1), Ok(2), Ok(3), Ok(1), Ok(2)]);
    check(&three, &[1, 3], [Ok(2); 5]);
    let two = set(&[(1, 1), (2, 1)], &Balance::RoundRobin);
    check(&two, &[2, 9], [Ok(1); 5]);
    check(&two, &[1, 2], [Err(NoPeer::AllTried); 5]);
    check(&set(&[], &Balance::RoundRobin), &[1], [Err(NoPeer::NoSuchName); 5]);
}

#[test]
fn weights_are_shares_of_the_turns() {
    check(&set(&[(1, 2), (2, 1)], &Balance::RoundRobin), &[], [Ok(1), Ok(2), Ok(1), Ok(1), Ok(2)]);
}

#[test]
fn a_peer_that_failed_is_passed_over_while_there_are_others() {
    let set = set(&[(1, 1), (2, 1), (3, 1)], &Balance::RoundRobin);
    eject(&set, &[2]);
    check(&set, &[], [Ok(1), Ok(3), Ok(3), Ok(1), Ok(3)]);
    check(&set, &[1, 3], [Ok(2); 5]);
    eject(&set, &[1, 3]);
    check(&set, &[], [Ok(1), Ok(2), Ok(3), Ok(1), Ok(2)]);
}

#[test]
fn another_rank_is_for_when_none_of_the_first_is_healthy() {
    let spares = || ranked(&[(3, 1, 1), (4, 1, 1), (1, 2, 0), (2, 1, 0), (5, 1, 2)], &Balance::RoundRobin);
    let healthy = spares();
    check(&healthy, &[], [Ok(1), Ok(2), Ok(1), Ok(1), Ok(2)]);
    check(&healthy, &[1], [Ok(2); 5]);
    let in_turn = spares();
    eject(&in_turn, &[1]);
    check(&in_turn, &[], [Ok(2); 5]);
    eject(&in_turn, &[2]);
    check(&in_turn, &[], [Ok(3), Ok(4), Ok(3), Ok(4), Ok(3)]);
    eject(&in_turn, &[3, 4]);
    check(&in_turn, &[], [Ok(5); 5]);
    eject(&in_turn, &[5]);
    check(&in_turn, &[], [Ok(1), Ok(2), Ok(1), Ok(1), Ok(2)]);
    check(&in_turn, &[1, 2, 3, 4, 5], [Err(NoPeer::AllTried); 5]);
}

#[test]
fn every_way_of_balancing_knows_ranks() {
    for balance in
        [Balance::RoundRobin, Balance::LeastRequests, Balance::Random, Balance::Hash(HashKey::ClientAddress)]
    {
        let set = ranked(&[(1, 1, 0), (2, 1, 1), (3, 1, 1)], &balance);
        let balancer = balancer(&balance);
        let pick = |key: u8| port(&balancer.pick(&set, &Ask { key: Some(&[key]), tried: &[] }).unwrap());
        assert!((0..50).all(|key| pick(key) == 1), "{balance:?}");
        eject(&set, &[1]);
        assert!((0..50).all(|key| pick(key) != 1), "{balance:?}");
    }
}

#[test]
fn a_busy_rank_is_waited_for() {
    let set = ranked(&[(1, 1, 0), (2, 1, 1)], &Balance::RoundRobin);
    let mut settings = settings("main", &[]);
    settings.limits.max_connections = Some(1);
    let balancer = Balancer::new(&settings);
    let hold = balancer.pick(&set, &Ask::default()).unwrap();
    assert_eq!(balancer.pick(&set, &Ask::default()).map(|hold| port(&hold)), Err(NoPeer::Full));
    drop(hold);
    assert_eq!(port(&balancer.pick(&set, &Ask::default()).unwrap()), 1);
}

#[test]
fn a_first_rank_that_is_back_starts_slowly_while_there_are_spares() {
    let set = ranked(&[(1, 1, 0), (2, 1, 1)], &Balance::RoundRobin);
    set.peers[0].state().check(false, 1, 1);
    set.peers[0].state().check(true, 1, 1);
    let slow = Settings { slow_start: Duration::from_secs(3600), ..settings("main", &[]) };
    let balancer = Balancer::new(&slow);
    let first = (0..2000).filter(|_| port(&balancer.pick(&set, &Ask::default()).unwrap()) == 1).count();
    assert!((100..400).contains(&first), "{first} of 2000, a tenth");
    eject(&set, &[2]);
    assert_eq!(port(&balancer.pick(&set, &Ask::default()).unwrap()), 1, "better than one that is left out");
}

#[test]
fn with_too_few_that_are_healthy_all_are_used() {
    let set = set(&[(1, 1), (2, 1), (3, 1)], &Balance::RoundRobin);
    eject(&set, &[1, 2]);
    let seen = |threshold: u8| {
        let settings = Settings { panic_threshold: threshold, ..settings("main", &[]) };
        let turns = Balancer::new(&settings);
        [(); 3].map(|()| port(&turns.pick(&set, &Ask::default()).unwrap()))
    };
    assert_eq!(seen(33), [3, 3, 3]);
    assert_eq!(seen(34), [1, 2, 3]);
}

#[test]
fn random_reaches_all_by_weight() {
    let two = set(&[(1, 3), (2, 1)], &Balance::Random);
    let balancer = balancer(&Balance::Random);
    let mut counts: HashMap<u16, usize> = HashMap::new();
    for _ in 0..4000 {
        *counts.entry(port(&balancer.pick(&two, &Ask::default()).unwrap())).or_default() += 1;
    }
    assert!((2700..3300).contains(&counts[&1]), "{counts:?}");
}

#[test]
fn one_key_goes_to_one_peer_and_to_one_other_when_that_fails() {
    let balance = Balance::Hash(HashKey::ClientAddress);
    let many = set(&[(1, 1), (2, 1), (3, 1), (4, 1)], &balance);
    let balancer = balancer(&balance);
    let pick = |key: &str, tried: &[Peer]| {
        port(&balancer.pick(&many, &Ask { key: Some(key.as_bytes()), tried }).unwrap())
    };
    let owners: Vec<u16> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|key| pick(key, &[])).into();
    assert!(owners.iter().any(|owner| *owner != owners[0]), "{owners:?}");
    for _ in 0..20 {
        assert_eq!(pick("a", &[]), owners[0]);
    }
    let second = pick("a", &tried(&many, &[owners[0]]));
    assert_ne!(second, owners[0]);
    eject(&many, &[owners[0]]);
    assert_eq!([pick("a", &[]), pick("a", &[])], [second, second]);
    let without = (0..50).map(|_| port(&balancer.pick(&many, &Ask::default()).unwrap()));
    assert!(without.collect::<std::collections::HashSet<_>>().len() > 1, "no key: any peer");
}

#[test]
fn a_peer_that_is_back_gets_less_at_first() {
    let two = set(&[(1, 1), (2, 1)], &Balance::RoundRobin);
    two.peers[0].state().check(false, 1, 1);
    two.peers[0].state().check(true, 1, 1);
    let slow = Settings { slow_start: Duration::from_secs(3600), ..settings("main", &[]) };
    let balancer = Balancer::new(&slow);
    let first = (0..2000).filter(|_| port(&balancer.pick(&two, &Ask::default()).unwrap()) == 1).count();
    assert!((40..200).contains(&first), "{first} of 2000, a tenth of its half");
}
