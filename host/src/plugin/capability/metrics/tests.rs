//! Metrics that plugins define: their rules, their bounds, and what `/metrics` says.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::*;

fn meters(board: &Arc<Board>, plugin: &str) -> Meters {
    let meters = Meters::new(&plugin.into(), board);
    meters.allow(1_000);
    meters
}

const FIRST: Edition = Edition(0);

/// Of all plugins together.
const BOUND_OF_TEXT: usize = 8 << 20;

fn define(meters: &Meters, name: &str, kind: Kind, labels: &[&str]) -> Result<u32, Refused> {
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    meters.define(FIRST, name, "What it is\nnot", kind, labels)
}

fn text(board: &Arc<Board>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Shown(Arc::clone(board))));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes all");
    text
}

fn values(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

#[test]
fn what_is_counted_is_shown() {
    let board = Arc::default();
    let one = meters(&board, "one");
    let other = meters(&board, "other");
    let refused = define(&one, "refused", Kind::Counter, &["why"]).expect("a metric");
    assert_eq!(define(&one, "refused", Kind::Counter, &["why"]), Ok(refused), "the same");
    let size = define(&one, "size", Kind::Gauge, &[]).expect("a metric");
    let took = define(&one, "took", Kind::Histogram(vec![1.0, 2.0]), &[]).expect("a metric");
    let theirs = define(&other, "refused", Kind::Counter, &[]).expect("a metric");
    one.change(refused, values(&["a\"\n\\"]), Change::Add(1.0)).expect("counted");
    one.change(refused, values(&["a\"\n\\"]), Change::Add(0.5)).expect("counted");
    one.change(size, Vec::new(), Change::Set(7.0)).expect("set");
    one.change(size, Vec::new(), Change::Add(-2.0)).expect("added");
    for value in [0.5, 1.0, 1.5, 9.0] {
        one.change(took, Vec::new(), Change::Observe(value)).expect("counted");
    }
    other.change(theirs, Vec::new(), Change::Add(2.0)).expect("counted");
    let shown = text(&board);
    for line in [
        "# HELP edgewright_plugin_custom_refused What it is\\\\nnot",
        "# TYPE edgewright_plugin_custom_refused counter",
        r#"edgewright_plugin_custom_refused_total{plugin="one",why="a\"\n\\"} 1.5"#,
        r#"edgewright_plugin_custom_refused_total{plugin="other"} 2"#,
        r#"edgewright_plugin_custom_size{plugin="one"} 5"#,
        r#"edgewright_plugin_custom_took_bucket{le="1.0",plugin="one"} 2"#,
        r#"edgewright_plugin_custom_took_bucket{le="2.0",plugin="one"} 3"#,
        r#"edgewright_plugin_custom_took_bucket{le="+Inf",plugin="one"} 4"#,
        r#"edgewright_plugin_custom_took_sum{plugin="one"} 12"#,
    ] {
        assert!(shown.lines().any(|shown| shown.starts_with(line)), "{line} is not in\n{shown}");
    }
    assert_eq!(shown.matches("# TYPE edgewright_plugin_custom_refused ").count(), 1);
    drop(one);
    let shown = text(&board);
    assert!(!shown.contains("\"one\"") && shown.contains("\"other\""), "{shown}");
}

#[test]
fn names_and_labels_are_checked() {
    let board = Arc::default();
    let meters = meters(&board, "a");
    let long = "n".repeat(65);
    for name in ["", "A", "1a", "a-b", "a b", "ä", "_a", "a_total", "a_bucket", "a\n", &long] {
        assert_eq!(define(&meters, name, Kind::Counter, &[]), Err(Refused::InvalidName), "{name}");
    }
    let nine = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    for labels in [&["plugin"][..], &["le"], &["A"], &["a", "a"], &nine] {
        assert_eq!(define(&meters, "m", Kind::Counter, labels), Err(Refused::InvalidLabel), "{labels:?}");
    }
    for bounds in [vec![1.0, 1.0], vec![2.0, 1.0], vec![f64::NAN], vec![f64::INFINITY], vec![0.0; 33]] {
        assert_eq!(define(&meters, "m", Kind::Histogram(bounds), &[]), Err(Refused::InvalidValue));
    }
    let counter = define(&meters, "m", Kind::Counter, &["a"]).expect("a metric");
    let change = |id, values, change| meters.change(id, values, change);
    let a = || values(&["a"]);
    assert_eq!(change(counter, a(), Change::Add(-1.0)), Err(Refused::InvalidValue));
    assert_eq!(change(counter, a(), Change::Add(f64::NAN)), Err(Refused::InvalidValue));
    assert_eq!(change(counter, a(), Change::Set(1.0)), Err(Refused::Unknown));
    assert_eq!(change(counter, a(), Change::Observe(1.0)), Err(Refused::Unknown));
    assert_eq!(change(counter, Vec::new(), Change::Add(1.0)), Err(Refused::Unknown));
    assert_eq!(change(counter + 1, a(), Change::Add(1.0)), Err(Refused::Unknown));
    assert_eq!(change(counter, vec!["v".repeat(129)], Change::Add(1.0)), Err(Refused::InvalidLabel));
}

#[test]
fn c59_series_are_bounded() {
    let board = Arc::default();
    let mut all = Vec::new();
    for plugin in 0..11 {
        let meters = meters(&board, &format!("p{plugin}"));
        let metric = define(&meters, "paths", Kind::Counter, &["path"]).expect("a metric");
        let counted = (0..2_000)
            .filter(|path| meters.change(metric, vec![path.to_string()], Change::Add(1.0)).is_ok())
            .count();
        assert_eq!(counted, if plugin < 10 { 1_000 } else { 0 }, "{plugin}");
        all.push(meters);
    }
    assert_eq!(text(&board).lines().filter(|line| !line.starts_with('#')).count(), 10_000);
    all.clear();
    let meters = meters(&board, "p");
    let metric = define(&meters, "paths", Kind::Counter, &["path"]).expect("a metric");
    assert_eq!(meters.change(metric, values(&["a"]), Change::Add(1.0)), Ok(()), "there is room again");
    for index in 1..100 {
        assert!(define(&meters, &format!("m{index}"), Kind::Counter, &[]).is_ok());
    }
    assert_eq!(define(&meters, "one_more", Kind::Counter, &[]), Err(Refused::TooMany));
}

#[test]
fn what_one_plugin_makes_a_scrape_write_is_bounded() {
    let board = Arc::default();
    let labels: Vec<String> = (0..8).map(|index| format!("{}{index}", "l".repeat(63))).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let bounds: Vec<f64> = (1..=32).map(|bound| f64::MAX / f64::from(33 - bound)).collect();
    let mut all = Vec::new();
    for plugin in 0..5 {
        let meters = meters(&board, &format!("p{plugin}"));
        let name = "n".repeat(64);
        let metric = define(&meters, &name, Kind::Histogram(bounds.clone()), &labels).expect("a metric");
        let observe = |index: usize| {
            let values = (0..8).map(|_| format!("{index:04}{}", "\"".repeat(124))).collect();
            meters.change(metric, values, Change::Observe(1e300))
        };
        let counted = (0..1_000).take_while(|index| observe(*index).is_ok()).count();
        assert_eq!(observe(counted), Err(Refused::TooMany));
        assert_eq!(observe(0), Ok(()), "what is there goes on");
        all.push(meters);
        let shown = text(&board).len();
        let most = BOUND_OF_TEXT.min((plugin + 1) * MAX_TEXT);
        assert!(shown < most + 1_000 * (plugin + 1), "{shown} bytes of {most}");
        assert!(shown > most * 8 / 10, "the limit is meant for text: {shown} bytes of {most}");
    }
}

/// Whatever else happens, this ends: a test that would hang fails instead.
fn within_reason<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("work".to_owned());
    thread.spawn(move || done.send(work())).expect("a thread");
    wait.recv_timeout(std::time::Duration::from_secs(10)).ok()
}

#[test]
fn whoever_has_no_room_waits_for_nobody() {
    let board = Arc::default();
    let meters = Arc::new(meters(&board, "one"));
    meters.allow(1);
    let metric = define(&meters, "m", Kind::Counter, &["path"]).expect("a metric");
    meters.change(metric, values(&["a"]), Change::Add(1.0)).expect("counted");
    let held = meters.defined.read().expect("not poisoned").metric(metric).expect("defined");
    let _held = held.held();
    let asked = Arc::clone(&meters);
    let refused = within_reason(move || asked.change(metric, values(&["b"]), Change::Add(1.0)));
    assert_eq!(refused, Some(Err(Refused::TooMany)));
}

#[test]
fn plugins_define_and_count_while_a_scrape_is_written() {
    /// Writes nothing, but has a plugin do something at each piece.
    struct Slow(Arc<Meters>, usize);
    impl std::fmt::Write for Slow {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            self.1 += 1;
            let (meters, index) = (Arc::clone(&self.0), self.1);
            let done = within_reason(move || {
                let metric = define(&meters, &format!("m{}", index % 50), Kind::Counter, &["path"])?;
                meters.change(metric, vec![index.to_string()], Change::Add(1.0))
            });
            assert_eq!(done, Some(Ok(())), "at piece {index}");
            Ok(())
        }
    }
    let board = Arc::default();
    let meters = Arc::new(meters(&board, "one"));
    let metric = define(&meters, "m0", Kind::Counter, &["path"]).expect("a metric");
    // More than is written at once.
    for index in 0..800 {
        let path = format!("{index}{}", "p".repeat(120));
        meters.change(metric, vec![path], Change::Add(1.0)).expect("counted");
    }
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Shown(Arc::clone(&board))));
    let mut slow = Slow(meters, 0);
    encode(&mut slow, &registry).expect("it takes all");
    assert!(slow.1 > 3, "{} pieces", slow.1);
}

#[test]
fn a_definition_that_is_refused_takes_nothing_away() {
    let board = Arc::default();
    let one = meters(&board, "one");
    let other = meters(&board, "other");
    for meters in [&one, &other] {
        let metric = define(meters, "m", Kind::Counter, &[]).expect("a metric");
        meters.change(metric, Vec::new(), Change::Add(4.0)).expect("counted");
    }
    let refused = one.define(Edition(1), "m", "", Kind::Gauge, Vec::new());
    assert_eq!(refused, Err(Refused::Conflict), "the other has a counter");
    let shown = text(&board);
    assert!(shown.contains("edgewright_plugin_custom_m_total{plugin=\"one\"} 4"), "{shown}");
}

#[test]
fn two_editions_at_once_do_not_take_the_name_from_each_other() {
    let board = Arc::default();
    let one = meters(&board, "one");
    let later = Edition(1);
    for round in 0..3_000 {
        let before = define(&one, "m", Kind::Counter, &[]).expect("a metric");
        let after = one.define(later, "m", "", Kind::Gauge, Vec::new()).expect("a metric");
        assert_ne!(before, after);
        one.change(before, Vec::new(), Change::Add(1.0)).expect("unseen");
        one.change(after, Vec::new(), Change::Add(1.0)).expect("counted");
        let defined = one.defined.read().expect("not poisoned");
        assert_eq!(defined.all.len(), 2, "{round}");
    }
    let shown = text(&board);
    assert!(shown.contains("edgewright_plugin_custom_m{plugin=\"one\"} 3000"), "{shown}");
    let back = one.define(Edition(2), "m", "", Kind::Counter, Vec::new()).expect("a metric");
    one.change(back, Vec::new(), Change::Add(1.0)).expect("counted");
    let shown = text(&board);
    assert!(shown.contains("edgewright_plugin_custom_m_total{plugin=\"one\"} 1"), "{shown}");
    assert_eq!(one.share.taken().series, 1);
}

#[test]
fn a_name_means_one_thing_until_a_later_edition_comes() {
    let board = Arc::default();
    let one = meters(&board, "one");
    let other = meters(&board, "other");
    let before = define(&one, "m", Kind::Counter, &[]).expect("a metric");
    one.change(before, Vec::new(), Change::Add(1.0)).expect("counted");
    assert_eq!(define(&one, "m", Kind::Gauge, &[]), Err(Refused::Conflict));
    assert_eq!(define(&one, "m", Kind::Counter, &["a"]), Err(Refused::Conflict));
    assert_eq!(define(&other, "m", Kind::Gauge, &[]), Err(Refused::Conflict));
    let after = one.define(Edition(1), "m", "", Kind::Gauge, Vec::new()).expect("a metric");
    assert_ne!(before, after);
    one.change(after, Vec::new(), Change::Set(3.0)).expect("set");
    one.change(before, Vec::new(), Change::Add(1.0)).expect("an instance of the old version goes on");
    let shown = text(&board);
    assert!(shown.contains("edgewright_plugin_custom_m{plugin=\"one\"} 3"), "{shown}");
    assert!(!shown.contains("m_total"), "{shown}");
}
