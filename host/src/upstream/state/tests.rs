//! How outcomes change a peer's standing.

use super::*;

const RULES: Ejection = Ejection {
    connect_failures: Some(2),
    server_errors: Some(3),
    time: Duration::from_secs(100),
    max_time: Duration::from_secs(150),
    max_share: 100,
};

fn left(state: &PeerState) -> u64 {
    state.ejected_for().map_or(0, |(left, _)| left.as_millis().div_ceil(1000) as u64)
}

#[test]
fn failures_in_a_row_eject_and_twice_as_long_the_second_time() {
    let state = PeerState::default();
    assert!(!state.connect_failed(&RULES));
    assert!(state.admits());
    assert!(state.connect_failed(&RULES));
    assert!(state.is_out() && !state.admits());
    assert_eq!(left(&state), 100);
    assert!(!state.connect_failed(&RULES), "a request that was on its way tells nothing new");
    assert_eq!(left(&state), 100);
    state.ejected_until.store(1, Relaxed);
    assert!(state.admits(), "its time is over");
    assert!(state.connect_failed(&RULES));
    assert_eq!(left(&state), 150, "doubled, up to the longest");
    state.answered();
    assert!(!state.is_out() && state.admits());
    assert!(!state.connect_failed(&RULES), "an answer ends the row");
}

#[test]
fn an_answer_below_500_ends_a_row_of_errors() {
    let state = PeerState::default();
    assert!(!state.server_failed(&RULES) && !state.server_failed(&RULES));
    state.answered();
    assert!(!state.server_failed(&RULES) && !state.server_failed(&RULES) && state.server_failed(&RULES));
    assert_eq!(state.failures.load(Relaxed), 5);
}

#[test]
fn a_row_that_is_switched_off_ejects_nobody() {
    let rules = Ejection { connect_failures: None, server_errors: None, ..RULES };
    let state = PeerState::default();
    for _ in 0..100 {
        assert!(!state.connect_failed(&rules) && !state.server_failed(&rules));
    }
}

#[test]
fn after_an_ejection_one_request_tries() {
    let state = PeerState::default();
    assert!(state.eject(&Ejection { time: Duration::ZERO, ..RULES }, Cause::ConnectFailures));
    state.ejected_until.store(1, Relaxed);
    assert!(state.admits(), "its time is over");
    assert!(!state.admits(), "the first one is still at it");
    state.answered();
    assert!(state.admits() && state.admits());
}

#[test]
fn an_error_page_is_better_than_no_connection() {
    let rules = Ejection { server_errors: None, connect_failures: Some(1), ..RULES };
    let state = PeerState::default();
    assert!(state.connect_failed(&rules));
    state.ejected_until.store(1, Relaxed);
    assert!(state.admits());
    assert!(!state.server_failed(&rules));
    assert!(state.admits() && state.admits(), "it answers again, if only with errors");
}

#[test]
fn active_checks_in_a_row_leave_out_and_bring_back() {
    let state = PeerState::default();
    assert_eq!(state.is_checked_up(), None);
    assert!(!state.check(true, 2, 3), "as expected");
    assert!(!state.check(false, 2, 3) && !state.check(false, 2, 3));
    assert!(!state.check(true, 2, 3), "a good one ends the row");
    assert!(!state.check(false, 2, 3) && !state.check(false, 2, 3) && state.admits());
    assert!(state.check(false, 2, 3) && !state.check(false, 2, 3));
    assert!(state.is_out() && !state.admits());
    assert!(!state.check(true, 2, 3) && state.check(true, 2, 3));
    assert!(state.admits());
    assert!(state.warmth(Duration::from_secs(3600)) < 0.2);
    assert!((state.warmth(Duration::ZERO) - 1.0).abs() < f32::EPSILON);
}

#[test]
fn the_first_check_decides_at_once() {
    let state = PeerState::default();
    assert!(state.check(false, 2, 3) && state.is_out());
}
