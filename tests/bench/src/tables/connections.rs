//! Many connections at once: what fails, and how long the slowest hundredth takes, beside nginx and a bare
//! Pingora in the same run.

use anyhow::Result;

use super::Ground;
use crate::contender::Target;
use crate::edgewright::{Setup, Threads};
use crate::nginx::Script;
use crate::report::{Grid, Report};
use crate::{bare, nginx};

const CONNECTIONS: [u32; 4] = [100, 400, 1_000, 2_000];

/// # Errors
/// Where a set-up does not start, or where the load can't be made.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    report.paragraph("## Many connections at once");
    let (_nginx, nginx) = nginx::proxy(&ground.scene, "many-nginx", Script::None, ground.origin).await?;
    let (_bare, bare) =
        bare::proxy(&ground.scene, "many-bare", &ground.options.bare()?, ground.origin).await?;
    let setup = Setup { threads: Threads::Auto, ..Setup::plain(ground.origin) };
    let running = setup.start(&ground.scene, "many", program).await?;

    let mut grid = Grid::new(&["set-up", "connections", "requests", "failed", "requests/s", "p99 ms"]);
    let targets =
        [("nginx", Target::new(nginx)), ("bare Pingora", Target::new(bare)), ("Edgewright", running.target)];
    for connections in CONNECTIONS {
        for (label, target) in &targets {
            let seconds = ground.options.seconds();
            let tried = ground.load.try_run(&ground.scene, target, connections, seconds).await?;
            grid.row([
                (*label).to_owned(),
                connections.to_string(),
                tried.seen.requests.to_string(),
                tried.failed.to_string(),
                format!("{:.0}", tried.seen.per_second),
                format!("{:.2}", tried.seen.p99.as_secs_f64() * 1_000.0),
            ]);
        }
    }
    report.grid(&grid);
    Ok(())
}
