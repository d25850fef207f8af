//! `/status` for people: a few lines on the process, then a table each for routes, upstreams and plugins. Reads
//! what is there, so that it gets on with a proxy of another version. Nothing reaches the terminal that it would obey.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::plugin::printable;

pub(super) fn render(status: &Value) -> String {
    let mut text = process(status);
    section(&mut text, &["ROUTE", "PLUGINS", "THEN"], list(status, "routes").map(route));
    section(&mut text, &["UPSTREAM", "PEER", "HEALTH"], list(status, "upstreams").flat_map(upstream));
    section(
        &mut text,
        &["PLUGIN", "PHASE", "CALLS", "FAILED", "P50", "P99", "QUARANTINE"],
        list(status, "plugins").flat_map(phases),
    );
    section(
        &mut text,
        &["PLUGIN", "VERSION", "ISOLATION", "IDLE", "BUSY", "PEAK", "WAITS", "REPLACED", "FAILURES"],
        list(status, "plugins").map(plugin),
    );
    text
}

fn process(status: &Value) -> String {
    let up = Duration::from_secs(status["uptime-seconds"].as_u64().unwrap_or_default());
    let mut text = format!(
        "edgewright {}, {}, up {}, generation {}, {} workers\n",
        word(&status["version"]),
        word(&status["state"]),
        humantime::format_duration(up),
        word(&status["generation"]),
        word(&status["workers"]),
    );
    let listeners: Vec<String> = list(status, "listeners").map(word).collect();
    let _ = writeln!(text, "listening on {}", listeners.join(", "));
    let last = &status["last-reload"];
    if last["outcome"].as_str().is_some_and(|outcome| outcome != "applied") {
        let outcome = word(&last["outcome"]);
        let (began, by) = (word(&last["began"]), word(&last["trigger"]));
        let _ = writeln!(text, "the last reload, at {began} by {by}, was not taken: {outcome}");
        for line in last["text"].as_str().into_iter().flat_map(str::lines) {
            let _ = writeln!(text, "  {}", printable(line));
        }
    }
    text
}

fn route(route: &Value) -> Vec<String> {
    let plugins: Vec<String> = list(route, "plugins").map(word).collect();
    let then = if route["action"].is_null() { &route["upstream"] } else { &route["action"] };
    vec![word(&route["name"]), dash(plugins.join(" ")), word(then)]
}

fn upstream(upstream: &Value) -> Vec<Vec<String>> {
    let name = word(&upstream["name"]);
    let row = |peer: &Value| {
        let address = if peer.is_string() { word(peer) } else { word(&peer["address"]) };
        let health = match (peer["healthy"].as_bool(), &peer["reason"]) {
            (Some(false), Value::Null) => "down".to_owned(),
            (Some(false), reason) => format!("down: {}", word(reason)),
            _ => "up".to_owned(),
        };
        vec![name.clone(), address, health]
    };
    let missing = |name: &Value| {
        vec![word(&upstream["name"]), word(&name["name"]), format!("none: {}", word(&name["reason"]))]
    };
    let rows: Vec<_> =
        list(upstream, "peers").map(row).chain(list(upstream, "unresolved").map(missing)).collect();
    if rows.is_empty() { vec![vec![name.clone(), "-".to_owned(), word(&upstream["reason"])]] } else { rows }
}

fn phases(plugin: &Value) -> Vec<Vec<String>> {
    let row = |phase: &Value| {
        let count = |outcome: &str| phase["calls"][outcome].as_u64().unwrap_or_default();
        let failed = count("failed") + count("skipped");
        let calls: u64 = phase["calls"]
            .as_object()
            .into_iter()
            .flat_map(|calls| calls.values())
            .filter_map(Value::as_u64)
            .sum();
        let quarantine = match (phase["quarantine-ms"].as_u64(), phase["quarantines"].as_u64()) {
            (Some(left), _) => format!("for {:.1} s", left as f64 / 1e3),
            (None, Some(earlier @ 1..)) => format!("{earlier} before"),
            (None, _) => "-".to_owned(),
        };
        vec![
            word(&plugin["name"]),
            word(&phase["name"]),
            calls.to_string(),
            failed.to_string(),
            micros(&phase["p50-us"]),
            micros(&phase["p99-us"]),
            quarantine,
        ]
    };
    list(plugin, "phases").map(row).collect()
}

fn plugin(plugin: &Value) -> Vec<String> {
    let instances = &plugin["instances"];
    let peak = plugin["memory-peak-bytes"].as_f64().unwrap_or_default() / f64::from(1 << 20);
    let failures: Vec<String> = plugin["failures"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(reason, count)| format!("{} {}", printable(reason), word(count)))
        .collect();
    vec![
        word(&plugin["name"]),
        word(&plugin["version"]).chars().take(12).collect(),
        word(&plugin["isolation"]),
        word(&instances["idle"]),
        word(&instances["busy"]),
        format!("{peak:.1} MiB"),
        word(&instances["waits"]),
        word(&instances["replaced"]),
        dash(failures.join(", ")),
    ]
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => printable(text).to_string(),
        other => printable(&other.to_string()).to_string(),
    }
}

fn dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

fn micros(value: &Value) -> String {
    match value.as_f64() {
        Some(us) if us >= 1_000.0 => format!("{:.1} ms", us / 1_000.0),
        Some(us) => format!("{us:.1} µs"),
        None => "-".to_owned(),
    }
}

/// An empty line and a table, each column as wide as it must be; nothing without rows.
fn section(text: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let mut widths: Vec<usize> = head.iter().map(|name| name.len()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    text.push('\n');
    let heads = std::iter::once(head.iter().map(|name| (*name).to_owned()).collect());
    for row in heads.chain(rows) {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(&row) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_there_is_told_in_columns() {
        let text = render(&json!({
            "version": "0.1.0", "state": "ready", "uptime-seconds": 192, "generation": 4, "workers": 2,
            "listeners": ["127.0.0.1:8080"],
            "routes": [{ "name": "api", "plugins": ["api-key", "canary"], "upstream": "main" }],
            "upstreams": [
                { "name": "main", "peers": ["10.0.0.1:80", { "address": "10.0.0.2:80", "healthy": false, "reason": "ejected" }] },
                { "name": "far", "peers": [], "reason": "no such name" },
                { "name": "new", "peers": [], "unresolved": [{ "name": "n.test", "reason": "no-such-name" }] }],
            "last-reload": { "outcome": "refused", "trigger": "signal", "began": "2026-01-02T03:04:05.678Z",
                "generation": 4, "text": "error[E0101]: no\n --> a.toml:1:1\n" },
            "plugins": [{
                "name": "api-key", "version": "0123456789abcdef", "isolation": "reuse",
                "phases": [
                    { "name": "request-filter", "calls": { "next": 7, "respond": 2, "failed": 1, "skipped": 0 },
                      "p50-us": 1.5, "p99-us": 2500.0, "quarantines": 3, "quarantine-ms": 1500 },
                    { "name": "log-filter", "calls": { "next": 4 }, "quarantines": 3 }],
                "failures": { "trap": 1 }, "memory-peak-bytes": 1_572_864,
                "instances": { "idle": 1, "busy": 0, "waits": 3, "replaced": 2 } }],
        }));
        let expected = "edgewright 0.1.0, ready, up 3m 12s, generation 4, 2 workers
listening on 127.0.0.1:8080
the last reload, at 2026-01-02T03:04:05.678Z by signal, was not taken: refused
  error[E0101]: no
   --> a.toml:1:1

ROUTE  PLUGINS         THEN
api    api-key canary  main

UPSTREAM  PEER         HEALTH
main      10.0.0.1:80  up
main      10.0.0.2:80  down: ejected
far       -            no such name
new       n.test       none: no-such-name

PLUGIN   PHASE           CALLS  FAILED  P50     P99     QUARANTINE
api-key  request-filter  10     1       1.5 µs  2.5 ms  for 1.5 s
api-key  log-filter      4      0       -       -       3 before

PLUGIN   VERSION       ISOLATION  IDLE  BUSY  PEAK     WAITS  REPLACED  FAILURES
api-key  0123456789ab  reuse      1     0     1.5 MiB  3      2         trap 1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_answer_of_another_kind_can_not_harm_the_terminal() {
        for status in
            [json!(null), json!([]), json!({ "version": "\u{1b}[2J", "plugins": [1, { "phases": [{}] }] })]
        {
            let text = render(&status);
            assert!(text.chars().all(|char| char == '\n' || crate::plugin::is_printable(char)), "{text:?}");
        }
    }
}
