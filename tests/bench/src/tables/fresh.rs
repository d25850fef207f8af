//! What a request waits for a plugin whose instances serve one call each and are made ahead of it, beside the same
//! plugin with instances that are used again, and beside no plugin. At a low rate: between two requests, there is
//! time to make the next instance.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::edgewright::{Guest, Isolation, Settings, Setup};
use crate::report::{Grid, Report};
use crate::stats::{difference, summary};
use crate::steady::{self, Pace};

/// Requests a second, on one connection.
const RATE: f64 = 200.0;

/// What a fresh instance may add to the half, in microseconds.
const MOST: f64 = 5.0;

/// # Errors
/// Where the proxy does not start, or a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let Some(component) = ground.options.guest("bench_header")? else { return Ok(()) };
    report.paragraph(&format!(
        "## Latency of fresh instances\n\n{RATE} requests/s on one connection. Made ahead of the request, a fresh \
         instance may add {MOST} µs to the half of an instance that is used again."
    ));
    let guest = Guest { component, settings: Settings::KeyAndMarks };
    let mut rows = Vec::new();
    for (label, name, plugins, isolation) in [
        ("no plugin", "fresh-none", Vec::new(), Isolation::Reuse),
        ("reuse", "fresh-reuse", vec![guest.clone()], Isolation::Reuse),
        ("fresh", "fresh-fresh", vec![guest], Isolation::Fresh),
    ] {
        let setup = Setup { plugins, isolation, ..Setup::plain(ground.origin) };
        let running = setup.start(&ground.scene, name, program).await?;
        rows.push((label, running, Vec::new(), Vec::new()));
    }
    let time = Duration::from_secs(ground.options.seconds().max(2));
    for round in 0..ground.options.rounds() {
        eprintln!("round {} of {}", round + 1, ground.options.rounds());
        let mut turns: Vec<_> = rows.iter_mut().collect();
        turns.rotate_left(round % 3);
        for (_, running, half, tail) in turns {
            let pace = Pace { connections: 1, rate: RATE, time };
            let latencies = steady::run(&running.target, pace).await?;
            half.push(latencies.permille(500) * 1e3);
            tail.push(latencies.permille(990) * 1e3);
        }
    }
    let reuse = rows.get(1).map(|(_, _, half, _)| half.clone()).unwrap_or_default();
    let mut grid = Grid::new(&["instances", "p50 µs", "p99 µs", "p50, − reuse", "least – most"]);
    for (label, _, half, tail) in &rows {
        let added = difference(half, &reuse);
        grid.row([
            (*label).to_owned(),
            format!("{:.1}", summary(half.iter().copied()).median),
            format!("{:.1}", summary(tail.iter().copied()).median),
            format!("{:.1}", added.median),
            format!("{:.1} – {:.1}", added.least, added.most),
        ]);
    }
    report.grid(&grid);
    Ok(())
}
