//! A plugin that fails again and again: left out, tried again, taken back.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use edgewright::config::model::{OnFailure, Quarantine};
use edgewright::phase::Phase;
use edgewright::plugin::exchange::{Decision, Failure};
use edgewright::plugin::{Chain, Plugin, PluginSpec};

use crate::guest::{Guest, NEXT};
use crate::log::Lines;
use crate::request::{Bench, answered, header, request};

/// Traps if the request has `x-in`, else sets `x-seen`.
const TRAP_IF_ASKED: &str = "
    (call $get (i32.const 1048) (i32.const 4) (i32.const 128))
    (if (i32.load8_u (i32.const 128)) (then unreachable))
    (call $set (i32.const 1024) (i32.const 6) (i32.const 1032) (i32.const 3) (i32.const 128))
    (i32.const 0)";

fn spec(bench: &Bench, pause: Duration) -> PluginSpec {
    let guest = Guest { on_request: Some(TRAP_IF_ASKED), on_response: Some(NEXT), ..Guest::default() };
    let mut spec = bench.spec(&guest.build());
    spec.quarantine = Quarantine {
        failures: NonZeroU32::new(3),
        window: Duration::from_secs(600),
        pause,
        longest_pause: Duration::from_secs(600),
    };
    spec
}

fn chain(bench: &Bench, spec: &PluginSpec) -> (Arc<Plugin>, Chain) {
    let plugin = bench.load(spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    (Arc::clone(&plugin), Chain::new(vec![(plugin, config)]))
}

async fn failure(chain: &Chain, headers: &[(&'static str, &'static str)]) -> Option<Failure> {
    match chain.on_request(&mut request(headers)).await {
        Decision::Failed { failure, .. } => Some(failure),
        Decision::Next => None,
        Decision::Respond { .. } => panic!("no answer was asked for"),
    }
}

const BOOM: &[(&str, &str)] = &[("x-in", "1")];

#[tokio::test]
async fn a_plugin_that_fails_again_and_again_is_left_out_and_taken_back() {
    let lines = Lines::default();
    let _capture = lines.capture();
    let bench = Bench::new();
    let (plugin, chain) = chain(&bench, &spec(&bench, Duration::from_millis(30)));
    for _ in 0..3 {
        assert_eq!(plugin.quarantined(Phase::Request), None);
        assert_eq!(failure(&chain, BOOM).await, Some(Failure::Trap));
    }
    let until = plugin.quarantined(Phase::Request).expect("it is left out");
    assert!(until <= Duration::from_millis(30), "{until:?}");
    // Only that phase.
    assert_eq!(plugin.quarantined(Phase::Response), None);
    assert!(matches!(chain.on_response(&mut answered(&[])).await, Decision::Next));
    // The first call after the pause decides; a second failure doubles it.
    let mut meanwhile = 0;
    let first = loop {
        match failure(&chain, BOOM).await {
            Some(Failure::Quarantined) => meanwhile += 1,
            other => break other,
        }
    };
    assert!(meanwhile > 0);
    assert_eq!(first, Some(Failure::Trap), "the attempt");
    assert!(plugin.quarantined(Phase::Request).is_some());
    while failure(&chain, &[]).await == Some(Failure::Quarantined) {
        tokio::task::yield_now().await;
    }
    assert_eq!(plugin.quarantined(Phase::Request), None, "an attempt went well");
    assert_eq!(failure(&chain, &[]).await, None);
    let text = lines.text();
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count("plugin in quarantine"), 2, "{text}");
    assert_eq!(count("plugin out of quarantine"), 1, "{text}");
    let line = text.lines().find(|line| line.contains("in quarantine")).expect("a line");
    for part in
        ["plugin=\"guest\"", "phase=\"request-filter\"", "reason=\"trap\"", "failures=3", "pause_ms=30"]
    {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[tokio::test]
async fn a_plugin_in_quarantine_is_skipped_where_it_may_be() {
    let bench = Bench::new();
    let mut spec = spec(&bench, Duration::from_secs(600));
    spec.on_failure = OnFailure::Open;
    let (plugin, chain) = chain(&bench, &spec);
    for _ in 0..3 {
        assert_eq!(failure(&chain, BOOM).await, None);
    }
    let mut lent = request(&[]);
    assert!(matches!(chain.on_request(&mut lent).await, Decision::Next));
    assert_eq!(header(&lent, "x-seen"), None, "it was not called");
    let vitals = plugin.vitals();
    assert_eq!(vitals.failures, [("trap", 3), ("quarantined", 1)]);
    assert_eq!(vitals.phases[0].skipped, 4);
    assert!(vitals.phases[0].quarantine.is_some() && vitals.phases[1].quarantine.is_none());
}

#[tokio::test]
async fn one_poisonous_client_among_others_is_no_reason() {
    let bench = Bench::new();
    let (plugin, chain) = chain(&bench, &spec(&bench, Duration::from_secs(600)));
    for _ in 0..50 {
        assert_eq!(failure(&chain, BOOM).await, Some(Failure::Trap));
        assert_eq!(failure(&chain, BOOM).await, Some(Failure::Trap));
        assert_eq!(failure(&chain, &[]).await, None);
    }
    assert_eq!(plugin.quarantined(Phase::Request), None);
}
