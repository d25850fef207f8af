//! The report: which tables, and what holds for all of them. Each table is a file of `tables/`; what they
//! share is here. Measures nothing itself.

mod balance;
mod compare;
mod connections;
mod dns;
mod fresh;
mod latency;
mod memory;
mod neighbours;
mod reloads;
mod start;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;

use crate::cli::{Options, Pinning, Table};
use crate::load::{CONNECTIONS, Load};
use crate::process::Process;
use crate::report::Report;
use crate::scene::{Role, Scene};
use crate::{contender, nginx};

/// The components, as Cargo names them.
const GUESTS: [&str; 3] = ["bench_header", "bench_request", "bench_log"];
const NO_GUESTS: &str = "Not all guests are built: what needs them is left out. Build them with `cargo build \
                         --profile plugin --target wasm32-wasip2 -p bench-header -p bench-request -p bench-log`.";

/// What every table needs.
struct Ground<'a> {
    options: &'a Options,
    scene: Scene,
    load: Load,
    origin: SocketAddr,
    edgewright: Option<PathBuf>,
    /// Kept so that it runs as long as the ground is there.
    _origin: Process,
}

/// Makes all tables that were asked for.
///
/// # Errors
/// Where something is missing or does not start, or where a run is void.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let scene = Scene::new(options.pinning)?;
    let (process, origin) = nginx::origin(&scene).await?;
    let edgewright = options.edgewright()?;
    let load = Load::new(Role::Around)?;
    let ground = Ground { options, scene, load, origin, edgewright, _origin: process };

    let mut report = Report::default();
    report.paragraph("# What a request costs");
    report.paragraph(&ground.conditions()?);
    if ground.edgewright.is_none() {
        report.paragraph("Edgewright is not built: its set-ups are left out.");
    } else if !GUESTS.iter().all(|name| options.guest(name).is_ok_and(|guest| guest.is_some())) {
        report.paragraph(NO_GUESTS);
    }
    for table in &options.tables {
        match table {
            Table::Compare => compare::run(&ground, &mut report).await?,
            Table::Dns => dns::run(&ground, &mut report).await?,
            Table::Latency => latency::run(&ground, &mut report).await?,
            Table::Memory => memory::run(&ground, &mut report).await?,
            Table::Start => start::run(&ground, &mut report).await?,
            Table::Connections => connections::run(&ground, &mut report).await?,
            Table::Reloads => reloads::run(&ground, &mut report).await?,
            Table::Balance => balance::run(&ground, &mut report).await?,
            Table::Neighbours => neighbours::run(&ground, &mut report).await?,
            Table::Fresh => fresh::run(&ground, &mut report).await?,
        }
    }
    match &options.markdown {
        Some(file) => report.write(file),
        None => Ok(()),
    }
}

impl Ground<'_> {
    fn conditions(&self) -> Result<String> {
        let pinned = match self.scene.pinning() {
            Pinning::Apart => "proxies on one CPU, load and origin on another",
            Pinning::Free => "no pinning",
        };
        let cpus = std::thread::available_parallelism().map_or(0, |cpus| cpus.get());
        Ok(format!(
            "{CONNECTIONS} connections kept alive (wrk), answers of {} bytes from an origin that keeps \
             connections too, HTTP/1.1 on loopback, one worker each. {} rounds of {} s for each set-up, in \
             turns; medians; {pinned}. {cpus} CPUs ({}), {}.",
            contender::ANSWER_BYTES,
            self.options.rounds(),
            self.options.seconds(),
            cpu_model(),
            nginx::version()?,
        ))
    }
}

fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("unknown", |(_, model)| model).to_owned()
}
