//! What becomes of a name, answer by answer.

use super::*;

const TIMING: Timing = Timing {
    min_ttl: Duration::from_secs(5),
    max_ttl: Duration::from_secs(3600),
    retry: Duration::from_secs(7),
    stale_max: Duration::from_secs(100),
};

fn found(addresses: &[&str], ttl: u64) -> Outcome {
    let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
    Outcome::Found { addresses, ttl: Duration::from_secs(ttl) }
}

fn no_records(ttl: Option<u64>) -> Outcome {
    Outcome::NoRecords { ttl: ttl.map(Duration::from_secs) }
}

fn no_name(ttl: Option<u64>) -> Outcome {
    Outcome::NoName { ttl: ttl.map(Duration::from_secs) }
}

fn failed() -> Outcome {
    Outcome::Failed(String::from("refused"))
}

/// A second of arrival, a kind and an outcome; then the delay and the addresses that are expected.
type Step = (u64, Family, Outcome, u64, &'static [&'static str]);

fn check(steps: &[Step], standing: Standing) {
    let start = Instant::now();
    let mut answer = Answer::default();
    for (index, (second, family, outcome, delay, addresses)) in steps.iter().enumerate() {
        let now = start + Duration::from_secs(*second);
        let (next, wait) = answer.after(*family, outcome, now, &TIMING);
        answer = next;
        let seen: Vec<_> = answer.addresses().iter().map(ToString::to_string).collect();
        assert_eq!(
            (wait.as_secs(), seen.as_slice()),
            (*delay, strings(addresses).as_slice()),
            "step {index}"
        );
    }
    assert_eq!(answer.standing(), standing);
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

use Family::{V4, V6};
use Standing::{Pending, Resolved, Unresolved};

#[test]
fn ttls_are_respected_within_bounds() {
    check(&[(0, V4, found(&["10.0.0.1"], 60), 60, &["10.0.0.1"])], Resolved);
    check(&[(0, V4, found(&["10.0.0.1"], 0), 5, &["10.0.0.1"])], Resolved);
    check(&[(0, V4, found(&["10.0.0.1"], 1 << 31), 3600, &["10.0.0.1"])], Resolved);
}

#[test]
fn both_kinds_are_merged_ipv4_first() {
    check(
        &[
            (0, V6, found(&["::1", "::1"], 9), 9, &["::1"]),
            (1, V4, found(&["10.0.0.2", "10.0.0.1"], 8), 8, &["10.0.0.2", "10.0.0.1", "::1"]),
            (9, V4, found(&["10.0.0.3"], 8), 8, &["10.0.0.3", "::1"]),
        ],
        Resolved,
    );
}

#[test]
fn a_name_without_addresses_is_told_from_one_that_does_not_exist() {
    let none = |outcome: Outcome| (0, V4, outcome, 7, &[] as &[&str]);
    let also = |outcome: Outcome| (0, V6, outcome, 7, &[] as &[&str]);
    check(&[none(no_records(None)), also(no_records(None))], Unresolved(NoPeer::NoAddresses));
    check(&[none(no_name(None)), also(no_records(None))], Unresolved(NoPeer::NoSuchName));
}

#[test]
fn a_failure_keeps_the_last_good_set() {
    check(
        &[
            (0, V4, found(&["10.0.0.1"], 10), 10, &["10.0.0.1"]),
            (0, V6, no_records(None), 7, &["10.0.0.1"]),
            (10, V4, failed(), 7, &["10.0.0.1"]),
            (9999, V4, failed(), 7, &["10.0.0.1"]),
        ],
        Unresolved(NoPeer::ResolverFailed),
    );
}

#[test]
fn a_name_that_is_gone_keeps_its_last_good_set_for_a_while() {
    check(
        &[
            (0, V4, found(&["10.0.0.1"], 10), 10, &["10.0.0.1"]),
            (0, V6, no_name(Some(60)), 60, &["10.0.0.1"]),
            (10, V4, no_name(Some(900)), 7, &["10.0.0.1"]),
            (99, V4, no_name(None), 7, &["10.0.0.1"]),
            (100, V4, no_name(None), 7, &[]),
        ],
        Unresolved(NoPeer::NoSuchName),
    );
}

#[test]
fn a_name_that_was_missing_heals() {
    check(
        &[
            (0, V4, no_name(Some(900)), 7, &[]),
            (0, V6, no_name(Some(900)), 7, &[]),
            (7, V4, found(&["10.0.0.1"], 30), 30, &["10.0.0.1"]),
            (7, V6, no_name(Some(900)), 900, &["10.0.0.1"]),
        ],
        Resolved,
    );
}

#[test]
fn a_kind_that_is_gone_makes_way_for_the_other() {
    check(
        &[
            (0, V4, found(&["10.0.0.1"], 10), 10, &["10.0.0.1"]),
            (0, V6, no_records(None), 7, &["10.0.0.1"]),
            (10, V4, no_records(None), 7, &["10.0.0.1"]),
            (11, V6, found(&["::1"], 10), 10, &["::1"]),
        ],
        Resolved,
    );
}

#[test]
fn both_kinds_outlive_a_name_that_seems_gone() {
    check(
        &[
            (0, V4, found(&["10.0.0.1"], 10), 10, &["10.0.0.1"]),
            (0, V6, found(&["::1"], 60), 60, &["10.0.0.1", "::1"]),
            (10, V4, no_name(None), 7, &["10.0.0.1", "::1"]),
            (60, V6, no_name(None), 7, &["10.0.0.1", "::1"]),
        ],
        Unresolved(NoPeer::NoSuchName),
    );
}

#[test]
fn one_kind_that_fails_does_not_take_the_other_along() {
    check(
        &[(0, V4, found(&["10.0.0.1"], 10), 10, &["10.0.0.1"]), (0, V6, failed(), 7, &["10.0.0.1"])],
        Resolved,
    );
    check(
        &[(0, V6, failed(), 7, &[]), (0, V4, no_records(None), 7, &[])],
        Unresolved(NoPeer::ResolverFailed),
    );
    check(&[(0, V6, no_records(None), 7, &[])], Pending);
}

#[test]
fn crossed_bounds_do_not_panic() {
    let timing = Timing { max_ttl: Duration::from_secs(1), ..TIMING };
    let (_, delay) = Answer::default().after(V4, &found(&["10.0.0.1"], 9), Instant::now(), &timing);
    assert_eq!(delay, Duration::from_secs(1));
}

#[test]
fn a_part_of_a_service_is_better_than_none_and_worse_than_all_of_it() {
    let service = |ports: &[u16], missing: bool| {
        let target = |port: &u16| Target { address: ([10, 0, 0, 1], *port).into(), weight: 1, rank: 0 };
        let missing = missing.then(|| String::from("refused"));
        Outcome::Service { targets: ports.iter().map(target).collect(), ttl: Duration::from_secs(9), missing }
    };
    let mut answer = Answer::service();
    for (outcome, delay, expected) in [
        (service(&[1], true), 7, [1].as_slice()),
        (service(&[1, 2], false), 9, &[1, 2]),
        (service(&[1], true), 7, &[1, 2]),
        (service(&[3], false), 9, &[3]),
    ] {
        let (next, wait) = answer.after(Family::Service, &outcome, Instant::now(), &TIMING);
        let ports: Vec<u16> = next.targets().iter().map(|target| target.address.port()).collect();
        assert_eq!((wait.as_secs(), ports.as_slice()), (delay, expected));
        answer = next;
    }
}
