//! Many connections at once: what fails, and how long the slowest hundredth takes, beside nginx and a bare
//! Pingora in the same run. And what happens where there are more than descriptors for them.

mod scarce;

use anyhow::Result;

use super::Ground;
use crate::cli::Pinning;
use crate::contender::Target;
use crate::edgewright::{Setup, Threads};
use crate::load::{Load, Tried};
use crate::nginx::Script;
use crate::report::{Grid, Report};
use crate::scene::{Role, Scene};
use crate::stats::summary;
use crate::{bare, nginx, process};

const CONNECTIONS: [u32; 4] = [100, 400, 1_000, 2_000];
const WORKERS: u32 = 2;

/// # Errors
/// Where a set-up does not start, or where the load can't be made.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    report.paragraph(&format!(
        "## Many connections at once\n\n{WORKERS} workers each; load, origin and proxy share the CPUs. {} descriptors \
         each.",
        process::descriptors()
    ));
    let scene = Scene::new(Pinning::Free)?;
    let load = Load::new(Role::Anywhere)?;
    let (_origin, origin) = nginx::origin(&scene).await?;
    let (nginx_process, nginx) = nginx::proxy(&scene, "many-nginx", Script::None, origin, WORKERS).await?;
    let (bare_process, bare) =
        bare::proxy(&scene, "many-bare", &ground.options.bare()?, origin, WORKERS).await?;
    let setup = Setup { threads: Threads::Two, ..Setup::plain(origin) };
    let running = setup.start(&scene, "many", program).await?;

    let targets =
        [("nginx", Target::new(nginx)), ("bare Pingora", Target::new(bare)), ("Edgewright", running.target)];
    let mut grid = Grid::new(&["set-up", "connections", "requests", "failed", "requests/s", "p99 ms"]);
    for connections in CONNECTIONS {
        let mut taken = [const { Vec::new() }; 3];
        for round in 0..ground.options.rounds() {
            eprintln!("{connections} connections, round {} of {}", round + 1, ground.options.rounds());
            let mut turns: Vec<_> = targets.iter().zip(&mut taken).collect();
            turns.rotate_left(round % targets.len());
            for ((_, target), taken) in turns {
                taken.push(load.try_run(&scene, target, connections, ground.options.seconds()).await?);
            }
        }
        for ((label, _), taken) in targets.iter().zip(&taken) {
            grid.row(row(label, connections, taken));
        }
    }
    report.grid(&grid);
    drop((nginx_process, bare_process, running.process));
    scarce::run(&scene, origin, [program, &ground.options.bare()?], ground.options.seconds(), report).await
}

/// Sums of requests and failures, medians of the rest.
fn row(label: &str, connections: u32, taken: &[Tried]) -> [String; 6] {
    let requests: u64 = taken.iter().map(|tried| tried.seen.requests).sum();
    let failed: u64 = taken.iter().map(|tried| tried.failed).sum();
    let per_second = summary(taken.iter().map(|tried| tried.seen.per_second)).median;
    let p99 = summary(taken.iter().map(|tried| tried.seen.p99.as_secs_f64() * 1_000.0)).median;
    [
        label.to_owned(),
        connections.to_string(),
        requests.to_string(),
        failed.to_string(),
        format!("{per_second:.0}"),
        format!("{p99:.2}"),
    ]
}
