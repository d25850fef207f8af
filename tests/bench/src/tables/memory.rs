//! What Edgewright holds in memory with three plugins: after a start that compiles them and after one that
//! finds them compiled, idle and after many requests.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::contender::{Contender, Job};
use crate::edgewright::{Guest, Settings, Setup};
use crate::report::{Grid, Report};

const PLUGINS: u32 = 3;
/// How long an idle proxy is watched.
const IDLE: Duration = Duration::from_secs(2);
/// Seconds of load between two looks at the count of requests.
const STEP: u64 = 2;

/// # Errors
/// Where a set-up does not start or does not do its job, or where a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let Some(component) = ground.options.guest("bench_header")? else { return Ok(()) };
    let least = ground.options.memory_requests();
    report.paragraph(&format!("## Memory with {PLUGINS} plugins, after {least} requests or more"));

    let mut grid = Grid::new(&[
        "plugin cache",
        "start ms",
        "idle CPU ms/s",
        "RSS MiB, started",
        "RSS MiB, after load",
        "peak MiB",
        "threads",
    ]);
    let guest = Guest { component, settings: Settings::KeyAndMarks };
    let plugins = (0..PLUGINS).map(|_| guest.clone()).collect();
    let setup = Setup { plugins, cache: "memory-cache".to_owned(), ..Setup::plain(ground.origin) };
    // The first start fills the cache that the second one finds.
    for name in ["cold", "warm"] {
        let running = setup.start(&ground.scene, &format!("memory-{name}"), program).await?;
        let job = Job::CheckAndMark { request_marks: PLUGINS, response_marks: PLUGINS };
        let label = format!("memory, {name} cache");
        let contender = Contender { label, process: running.process, target: running.target, job };

        let started = contender.process.footprint()?;
        let before = contender.process.cpu()?;
        tokio::time::sleep(IDLE).await;
        let idle = contender.process.cpu()?.since(&before);
        contender.prove().await?;
        let mut requests = 0;
        while requests < least {
            requests += ground.load.run(&ground.scene, &contender.target, STEP).await?.requests;
        }
        let loaded = contender.process.footprint()?;
        drop(contender);

        let mib = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
        grid.row([
            name.to_owned(),
            running.start.as_millis().to_string(),
            format!("{:.2}", idle.as_secs_f64() * 1_000.0 / IDLE.as_secs_f64()),
            mib(started.resident),
            mib(loaded.resident),
            mib(loaded.peak),
            loaded.threads.to_string(),
        ]);
    }
    report.grid(&grid);
    Ok(())
}
