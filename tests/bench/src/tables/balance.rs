//! One peer of three is slow: how many requests feel it, with round-robin and with least-requests.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::edgewright::{Setup, Threads};
use crate::load::CONNECTIONS;
use crate::report::{Grid, Report};
use crate::slow_origin::SlowOrigin;

const DELAY: Duration = Duration::from_millis(200);

/// # Errors
/// Where a set-up does not start, or where a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    report.paragraph(&format!("## One peer of three answers after {} ms", DELAY.as_millis()));
    let fast = [SlowOrigin::start(Duration::ZERO).await?, SlowOrigin::start(Duration::ZERO).await?];
    let slow = SlowOrigin::start(DELAY).await?;
    let peers: Vec<String> = fast.iter().chain([&slow]).map(|origin| origin.address.to_string()).collect();
    let peers = peers.join(",");

    let mut grid = Grid::new(&["balance", "requests/s", "p99 ms"]);
    for (label, upstream) in
        [("round-robin", "balance = \"round-robin\""), ("least-requests", "balance = \"least-requests\"")]
    {
        let setup = Setup { upstream, threads: Threads::Auto, ..Setup::plain(&peers) };
        let running = setup.start(&ground.scene, &format!("balance-{label}"), program).await?;
        let seconds = ground.options.seconds().max(3);
        let tried = ground.load.try_run(&ground.scene, &running.target, CONNECTIONS, seconds).await?;
        anyhow::ensure!(tried.failed == 0, "void: {:?}", tried.trouble);
        grid.row([
            label.to_owned(),
            format!("{:.0}", tried.seen.per_second),
            format!("{:.2}", tried.seen.p99.as_secs_f64() * 1_000.0),
        ]);
    }
    report.grid(&grid);
    Ok(())
}
