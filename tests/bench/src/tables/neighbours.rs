//! A plugin that never returns on one route, and what a route without plugins feels of it on the same worker.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Ground;
use crate::client::ask;
use crate::contender::Target;
use crate::edgewright::{Guest, Settings, Setup};
use crate::report::{Grid, Report};

/// Requests that loop, one after the other with this between them.
const PAUSE: Duration = Duration::from_millis(50);

/// # Errors
/// Where the proxy does not start, a looping request is not cut, or a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let Some(component) = ground.options.guest("guest_spin")? else { return Ok(()) };
    report.paragraph("## A plugin that loops until its 10 ms are over, 20 times a second at most");
    let plugins = vec![Guest { component, settings: Settings::None }];
    let setup = Setup { plugins, bystander: true, ..Setup::plain(ground.origin) };
    let running = setup.start(&ground.scene, "neighbours", program).await?;
    let quiet = running.target.at("/bystander");
    let mut looping = running.target.clone();
    looping.headers.push(("x-loop".to_owned(), "1".to_owned()));

    let mut grid = Grid::new(&["beside it", "requests/s", "p99 ms", "loops cut"]);
    let seconds = ground.options.seconds().max(3);
    ground.load.run(&ground.scene, &quiet, 1).await?;
    let alone = ground.load.run(&ground.scene, &quiet, seconds).await?;
    let beside = ground.load.run(&ground.scene, &quiet, seconds);
    let mut cut = 0_u32;
    let loops = loop_for_ever(&looping, &mut cut);
    let beside = tokio::select! {
        seen = beside => seen?,
        Err(error) = loops => return Err(error),
    };
    for (label, seen, cut) in [("nothing", alone, 0), ("loops", beside, cut)] {
        grid.row([
            label.to_owned(),
            format!("{:.0}", seen.per_second),
            format!("{:.2}", seen.p99.as_secs_f64() * 1_000.0),
            cut.to_string(),
        ]);
    }
    report.grid(&grid);
    Ok(())
}

async fn loop_for_ever(target: &Target, cut: &mut u32) -> Result<Infallible> {
    loop {
        let answer = ask(target).await?;
        ensure!(answer.status == 503, "status {} for a plugin that loops, not 503", answer.status);
        *cut += 1;
        tokio::time::sleep(PAUSE).await;
    }
}
