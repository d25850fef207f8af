//! Plugins that loop or wait on one route, and what a route without plugins feels of them on the same worker.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Ground;
use crate::client::ask;
use crate::contender::Target;
use crate::edgewright::{Guest, Running, Settings, Setup};
use crate::load::Seen;
use crate::report::{Grid, Report};
use crate::slow_origin::SlowOrigin;

/// Requests that loop, one after the other with this between them.
const PAUSE: Duration = Duration::from_millis(50);

/// Requests that wait at once.
const WAITING: u32 = 1_000;

/// What each waits for: a little less than the calls of a plugin may.
const WAIT: Duration = Duration::from_millis(800);

/// # Errors
/// Where the proxy does not start, a looping request is not cut, or a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    if let Some(component) = ground.options.guest("guest_spin")? {
        loops(ground, program, component, report).await?;
    }
    match ground.options.guest("guest_http_client")? {
        Some(component) => waits(ground, program, component, report).await,
        None => Ok(()),
    }
}

async fn loops(ground: &Ground<'_>, program: &Path, component: PathBuf, report: &mut Report) -> Result<()> {
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

/// Requests that wait in a plugin, beside as many that wait for an upstream: those cost their work alone.
async fn waits(ground: &Ground<'_>, program: &Path, component: PathBuf, report: &mut Report) -> Result<()> {
    report.paragraph(&format!("## {WAITING} requests that wait for {} ms each", WAIT.as_millis()));
    let slow = SlowOrigin::start(WAIT).await?;
    let plugins = vec![Guest { component, settings: Settings::None }];
    let manifest = format!(
        "grants = {{ http = [\"http://{}\"] }}\nlimits = {{ instances = {} }}",
        slow.address,
        WAITING + WAITING / 10
    );
    let setup =
        Setup { plugins, manifest, bystander: true, slow: Some(slow.address), ..Setup::plain(ground.origin) };
    let running = setup.start(&ground.scene, "waiting", program).await?;
    let mut in_plugin = running.target.clone();
    in_plugin.headers.push(("x-call".to_owned(), format!("http://{}/", slow.address)));
    let at_upstream = running.target.at("/slow");

    let mut grid = Grid::new(&["beside it", "requests/s", "p99 ms", "they", "failed"]);
    let seconds = ground.options.seconds().max(3);
    for (label, beside) in [
        ("nothing", None),
        ("requests that wait for an upstream", Some(&at_upstream)),
        ("requests that wait in a plugin", Some(&in_plugin)),
    ] {
        let (seen, waited, failed) = beside_waiting(ground, &running, beside, seconds).await?;
        grid.row([
            label.to_owned(),
            format!("{:.0}", seen.per_second),
            format!("{:.2}", seen.p99.as_secs_f64() * 1_000.0),
            waited.to_string(),
            failed.to_string(),
        ]);
    }
    report.grid(&grid);
    Ok(())
}

/// What the bystander's route is seen to do, how many requests waited meanwhile, and how many of them failed.
async fn beside_waiting(
    ground: &Ground<'_>,
    running: &Running,
    waiting: Option<&Target>,
    seconds: u64,
) -> Result<(Seen, u64, u64)> {
    let quiet = running.target.at("/bystander");
    let Some(waiting) = waiting else {
        ground.load.run(&ground.scene, &quiet, 1).await?;
        return Ok((ground.load.run(&ground.scene, &quiet, seconds).await?, 0, 0));
    };
    // They are there a second earlier, and a second longer.
    let waits = ground.load.try_run(&ground.scene, waiting, WAITING, seconds + 2);
    let asks = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        ground.load.run(&ground.scene, &quiet, seconds).await
    };
    let (waited, seen) = tokio::join!(waits, asks);
    let waited = waited?;
    Ok((seen?, waited.seen.requests, waited.failed))
}

async fn loop_for_ever(target: &Target, cut: &mut u32) -> Result<Infallible> {
    loop {
        let answer = ask(target).await?;
        ensure!(answer.status == 503, "status {} for a plugin that loops, not 503", answer.status);
        *cut += 1;
        tokio::time::sleep(PAUSE).await;
    }
}
