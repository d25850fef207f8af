//! The tail at half the load that nginx can carry: two workers, 100 connections, a constant rate.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::cli::Pinning;
use crate::contender::Target;
use crate::edgewright::{Setup, Threads};
use crate::load::Load;
use crate::nginx::Script;
use crate::report::{Grid, Report};
use crate::scene::{Role, Scene};
use crate::stats::{ratio, summary};
use crate::steady::{self, Pace};
use crate::{bare, nginx};

const CONNECTIONS: u32 = 100;
const WORKERS: u32 = 2;
/// Long enough for a thousandth to be some hundred requests.
const LEAST_SECONDS: u64 = 5;

/// # Errors
/// Where a set-up does not start, or where a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let scene = Scene::new(Pinning::Free)?;
    let load = Load::new(Role::Anywhere)?;
    let (_origin, origin) = nginx::origin(&scene).await?;
    let (_nginx, nginx) = nginx::proxy(&scene, "steady-nginx", Script::None, origin, WORKERS).await?;
    let (_bare, bare) = bare::proxy(&scene, "steady-bare", &ground.options.bare()?, origin, WORKERS).await?;
    let setup = Setup { threads: Threads::Two, ..Setup::plain(origin) };
    let running = setup.start(&scene, "steady", program).await?;

    let targets = [
        ("nginx", Target::new(nginx)),
        ("bare Pingora", Target::new(bare)),
        ("Edgewright", running.target.clone()),
    ];
    let mut reached = Vec::new();
    for _ in 0..3 {
        reached.push(load.try_run(&scene, &targets[0].1, CONNECTIONS, 2).await?.seen.per_second);
    }
    let rate = summary(reached).median / 2.0;
    report.paragraph(&format!(
        "## The tail at a constant rate\n\n{rate:.0} requests/s, half of what nginx reaches here with {CONNECTIONS} \
         connections: each is due at its time, and its time runs from then, whether or not a connection was free. \
         {WORKERS} workers each; load, origin and proxy share the CPUs."
    ));

    let mut rows = targets.map(|(label, target)| Row { label, target, taken: Vec::new() });
    for row in &rows {
        load.try_run(&scene, &row.target, CONNECTIONS, 1).await?;
    }
    let time = Duration::from_secs(ground.options.seconds().max(LEAST_SECONDS));
    for round in 0..ground.options.rounds() {
        eprintln!("round {} of {}", round + 1, ground.options.rounds());
        let mut turns: Vec<_> = rows.iter_mut().collect();
        turns.rotate_left(round % 3);
        for row in turns {
            let pace = Pace { connections: CONNECTIONS as usize, rate, time };
            let latencies = steady::run(&row.target, pace).await?;
            row.taken.push([500, 990, 999].map(|permille| latencies.permille(permille)));
        }
    }
    report.grid(&grid(&rows));
    Ok(())
}

struct Row {
    label: &'static str,
    target: Target,
    /// The half, the last hundredth and the last thousandth of each round, in milliseconds.
    taken: Vec<[f64; 3]>,
}

impl Row {
    fn of(&self, which: usize) -> Vec<f64> {
        self.taken.iter().filter_map(|taken| taken.get(which).copied()).collect()
    }
}

fn grid(rows: &[Row]) -> Grid {
    let mut grid = Grid::new(&["set-up", "p50 ms", "p99 ms", "p99.9 ms", "p99, × nginx", "from", "to"]);
    let nginx = rows.first().map(|row| row.of(1)).unwrap_or_default();
    for row in rows {
        let times = ratio(&row.of(1), &nginx);
        let mut cells = vec![row.label.to_owned()];
        cells.extend((0..3).map(|which| format!("{:.2}", summary(row.of(which)).median)));
        cells.extend([times.median, times.least, times.most].map(|times| format!("{times:.2}")));
        grid.row(cells);
    }
    grid
}
