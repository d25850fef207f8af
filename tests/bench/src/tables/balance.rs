//! One peer of three is slow: how many requests feel it, with round-robin and with least-requests, as fast as may be and
//! at a constant rate.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::edgewright::{Setup, Threads};
use crate::load::CONNECTIONS;
use crate::report::{Grid, Report};
use crate::slow_origin::SlowOrigin;
use crate::steady::{self, Pace};

const DELAY: Duration = Duration::from_millis(200);

/// Requests a second, well below what the origins of this table can answer. With round-robin, a third of them are on their
/// way for the whole delay, and each needs a connection.
const RATE: f64 = 3_000.0;
const STEADY_CONNECTIONS: usize = 400;

/// # Errors
/// Where a set-up does not start, or where a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    report.paragraph(&format!(
        "## One peer of three answers after {} ms\n\nOver {CONNECTIONS} connections as fast as may be, and at a constant \
         rate of {RATE:.0} requests/s.",
        DELAY.as_millis()
    ));
    let fast = [SlowOrigin::start(Duration::ZERO).await?, SlowOrigin::start(Duration::ZERO).await?];
    let slow = SlowOrigin::start(DELAY).await?;
    let peers: Vec<String> = fast.iter().chain([&slow]).map(|origin| origin.address.to_string()).collect();
    let peers = peers.join(",");

    let mut grid =
        Grid::new(&["balance", "requests/s", "p99 ms", "at a rate: p50 ms", "p99 ms", "of the slow peer, %"]);
    for (label, upstream) in
        [("round-robin", "balance = \"round-robin\""), ("least-requests", "balance = \"least-requests\"")]
    {
        let setup = Setup { upstream, threads: Threads::Auto, ..Setup::plain(&peers) };
        let running = setup.start(&ground.scene, &format!("balance-{label}"), program).await?;
        let seconds = ground.options.seconds().max(3);
        let tried = ground.load.try_run(&ground.scene, &running.target, CONNECTIONS, seconds).await?;
        anyhow::ensure!(tried.failed == 0, "void: {:?}", tried.trouble);
        let pace = Pace { connections: STEADY_CONNECTIONS, rate: RATE, time: Duration::from_secs(seconds) };
        let steady = steady::run(&running.target, pace).await?;
        grid.row([
            label.to_owned(),
            format!("{:.0}", tried.seen.per_second),
            format!("{:.2}", tried.seen.p99.as_secs_f64() * 1_000.0),
            format!("{:.2}", steady.permille(500)),
            format!("{:.2}", steady.permille(990)),
            format!("{:.2}", steady.share_above(DELAY)),
        ]);
    }
    report.grid(&grid);
    Ok(())
}
