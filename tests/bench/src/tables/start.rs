//! How long a proxy with many plugins takes from its start to its first connection: with everything to compile,
//! and with everything compiled before.

use anyhow::Result;

use super::Ground;
use crate::edgewright::{Guest, Settings, Setup};
use crate::report::{Grid, Report};
use crate::stats::summary;

const PLUGINS: u32 = 50;
/// Starts that find the cache.
const WARM_STARTS: usize = 5;

/// # Errors
/// Where the proxy does not start.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let Some(component) = ground.options.guest("bench_header")? else { return Ok(()) };
    report.paragraph(&format!("## Start with {PLUGINS} plugins"));
    let guest = Guest { component, settings: Settings::KeyAndMarks };
    let plugins = (0..PLUGINS).map(|_| guest.clone()).collect();
    let setup = Setup { plugins, cache: "start-cache".to_owned(), ..Setup::plain(ground.origin) };

    let mut grid = Grid::new(&["plugin cache", "starts", "ms to the first connection", "least – most"]);
    for (name, starts) in [("cold", 1), ("warm", WARM_STARTS)] {
        let mut times = Vec::new();
        for number in 0..starts {
            let running = setup.start(&ground.scene, &format!("start-{name}-{number}"), program).await?;
            times.push(running.start.as_secs_f64() * 1_000.0);
        }
        let time = summary(times);
        grid.row([
            name.to_owned(),
            starts.to_string(),
            format!("{:.0}", time.median),
            format!("{:.0} – {:.0}", time.least, time.most),
        ]);
    }
    report.grid(&grid);
    Ok(())
}
