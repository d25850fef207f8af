//! `bench limits`: Edgewright in the bounds of a small container. It must start, run one worker for each
//! CPU of the quota, and serve without an error and without going past a bound.

use anyhow::{Context, Result, ensure};

use crate::cgroup::Cgroup;
use crate::cli::{Bounds, Options, Pinning};
use crate::contender::{Contender, Job};
use crate::edgewright::{Guest, Settings, Setup, Threads};
use crate::load::Load;
use crate::nginx;
use crate::process::Process;
use crate::report::{Grid, Report};
use crate::scene::{Role, Scene, program};
use crate::usage::{CpuReading, thread_name};

/// A thread with at least this part of the CPU time under load is a worker: the others only keep the
/// clock and the books.
const WORKER_PART: f64 = 0.1;

/// # Errors
/// Where Edgewright is not built or does not start, or where a bound does not hold.
pub(crate) async fn run(options: &Options, bounds: &Bounds) -> Result<()> {
    let edgewright = options.edgewright()?.context("Edgewright is not built")?;
    let scene = Scene::new(Pinning::Free)?;
    let (_origin, origin) = nginx::origin(&scene).await?;

    let mut setup = Setup { threads: Threads::Auto, ..Setup::plain(origin) };
    let mut job = Job::Forward;
    if let Some(component) = options.guest("bench_header")? {
        setup.plugins.push(Guest { component, settings: Settings::KeyAndMarks });
        job = Job::CheckAndMark { request_marks: 1, response_marks: 1 };
    }
    let (command, target) = setup.prepare(&scene, "limits", &edgewright)?;

    // The group is made before the process, so that the process is dropped, and gone, before the group.
    let group = Cgroup::new(bounds);
    let (command, how) = match &group {
        Ok(group) => (group.enclose(command), group.describe().to_owned()),
        Err(error) => (
            on_cpus(command, bounds.cpus)?,
            format!(
                "CPU affinity alone ({error:#}); memory and threads are read, not enforced: an address space \
             limit would refuse what WebAssembly only reserves, and the limit on processes spares root"
            ),
        ),
    };
    let mut process = Process::start(&scene, "limits", Role::Anywhere, &command)?;
    let start = process.ready(target.address).await?;
    let contender = Contender { label: "limits".to_owned(), process, target, job };
    contender.prove().await?;

    let load = Load::new(Role::Anywhere)?;
    let before = contender.process.cpu()?;
    let mut requests = 0;
    while requests < bounds.requests {
        requests += load.run(&scene, &contender.target, 1).await?.requests;
    }
    let after = contender.process.cpu()?;
    let footprint = contender.process.footprint()?;
    let workers = workers(&before, &after);
    let names: Vec<_> = workers.iter().map(|&thread| thread_name(contender.process.pid(), thread)).collect();

    let mut report = Report::default();
    report.paragraph("# Edgewright in the bounds of a small container");
    report.paragraph(&format!("Bounds by {how}. Listening after {} ms.", start.as_millis()));
    let mut grid = Grid::new(&["what", "bound", "seen"]);
    let peak = footprint.peak / 1024;
    grid.row(["requests without an error".into(), bounds.requests.to_string(), requests.to_string()]);
    grid.row([
        "workers".into(),
        bounds.cpus.to_string(),
        format!("{} ({})", workers.len(), names.join(", ")),
    ]);
    grid.row(["peak RSS, MiB".into(), bounds.memory.to_string(), peak.to_string()]);
    if let Some(charged) = group.as_ref().ok().and_then(Cgroup::peak_memory) {
        grid.row(["peak of the group, MiB".into(), bounds.memory.to_string(), (charged >> 20).to_string()]);
    }
    grid.row(["threads".into(), bounds.pids.to_string(), footprint.threads.to_string()]);
    report.grid(&grid);
    if let Some(file) = &options.markdown {
        report.write(file)?;
    }

    ensure!(workers.len() == bounds.cpus as usize, "{} workers, not {}", workers.len(), bounds.cpus);
    ensure!(peak <= bounds.memory, "{peak} MiB resident, more than {}", bounds.memory);
    ensure!(footprint.threads <= u64::from(bounds.pids), "{} threads", footprint.threads);
    Ok(())
}

/// The threads that did the work between two readings.
fn workers(before: &CpuReading, after: &CpuReading) -> Vec<u32> {
    let total = after.since(before).as_secs_f64();
    let busy = after.threads_since(before).filter(|(_, time)| time.as_secs_f64() >= total * WORKER_PART);
    busy.map(|(thread, _)| thread).collect()
}

fn on_cpus(command: Vec<String>, cpus: u32) -> Result<Vec<String>> {
    let taskset = program("taskset").context("neither control groups nor `taskset` to set bounds with")?;
    let last = cpus.saturating_sub(1);
    let prefix = [taskset.display().to_string(), "-c".to_owned(), format!("0-{last}")];
    Ok(prefix.into_iter().chain(command).collect())
}
