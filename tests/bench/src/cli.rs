//! The command line of the bench, and the binaries it stands for. Starts nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// What a request costs: Edgewright beside nginx, nginx with Lua and a bare Pingora.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Starts Edgewright as in a small container and shows that it lives within its bounds.
    Limits(Bounds),
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Writes the report to this file too, as Markdown.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Rounds; in each, every set-up is measured once.
    #[arg(long, global = true, default_value_t = 7, value_name = "N")]
    rounds: usize,

    /// Seconds of load for one set-up in one round.
    #[arg(long, global = true, default_value_t = 3, value_name = "N")]
    seconds: u64,

    /// A smoke test: three rounds of one second, and 15 seconds without DNS in the place of a minute.
    #[arg(long, global = true)]
    quick: bool,

    /// The tables to make.
    #[arg(long, global = true, value_delimiter = ',', default_values_t = Table::ALL, value_name = "TABLE")]
    pub(crate) tables: Vec<Table>,

    /// Where proxies, load and origin run.
    #[arg(long, global = true, default_value_t = Pinning::Apart)]
    pub(crate) pinning: Pinning,

    /// The proxy [default: beside this program].
    #[arg(long, global = true, value_name = "FILE")]
    edgewright: Option<PathBuf>,

    /// The bare Pingora [default: beside this program].
    #[arg(long, global = true, value_name = "FILE")]
    bare: Option<PathBuf>,

    /// Directory of the compiled guests [default: `../wasm32-wasip2/plugin` from this program].
    #[arg(long, global = true, value_name = "DIR")]
    guests: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Bounds {
    /// CPUs of the quota.
    #[arg(long, default_value_t = 2)]
    pub(crate) cpus: u32,
    /// Memory, in MiB.
    #[arg(long, default_value_t = 256)]
    pub(crate) memory: u64,
    /// Processes and threads.
    #[arg(long, default_value_t = 300)]
    pub(crate) pids: u32,
    /// Requests to serve.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) requests: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// All set-ups in one run: CPU per request, and what each thing adds.
    Compare,
    /// Throughput, tail latency and CPU while the DNS server is slow or silent; a minute without it.
    Dns,
    /// The tail at half the rate that nginx reaches, beside nginx and a bare Pingora.
    Latency,
    /// Resident memory after many requests, with a cold and a warm plugin cache.
    Memory,
    /// From the start to the first connection with 50 plugins, with a cold and a warm plugin cache.
    Start,
    /// 100 to 2,000 connections at once.
    Connections,
    /// 100 changes of a plugin under load.
    Reloads,
    /// A slow peer among three, with two ways of balancing.
    Balance,
    /// Plugins that never return or wait, beside a route that has nothing to do with them.
    Neighbours,
    /// What a request waits for an instance that was made ahead of it, beside one that is used again.
    Fresh,
}

impl Table {
    const ALL: [Table; 10] = [
        Table::Compare,
        Table::Dns,
        Table::Latency,
        Table::Memory,
        Table::Start,
        Table::Connections,
        Table::Reloads,
        Table::Balance,
        Table::Neighbours,
        Table::Fresh,
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pinning {
    /// Proxies on one CPU, load and origin on another.
    Apart,
    /// Wherever the kernel puts them.
    Free,
}

/// Both are shown as they are typed.
macro_rules! display_as_value {
    ($($name:ty),*) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let value = self.to_possible_value();
                f.write_str(value.as_ref().map_or("", |value| value.get_name()))
            }
        }
    )*};
}

display_as_value!(Table, Pinning);

impl Options {
    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 3 } else { self.rounds.max(1) }
    }

    /// Seconds of one measurement.
    pub(crate) fn seconds(&self) -> u64 {
        if self.quick { 1 } else { self.seconds.max(1) }
    }

    /// How long there is no DNS.
    pub(crate) fn outage(&self) -> Duration {
        Duration::from_secs(if self.quick { 15 } else { 60 })
    }

    /// Requests before memory is read.
    pub(crate) fn memory_requests(&self) -> u64 {
        if self.quick { 10_000 } else { 100_000 }
    }

    /// The bare Pingora.
    ///
    /// # Errors
    /// Where it has not been built.
    pub(crate) fn bare(&self) -> Result<PathBuf> {
        let path = beside(self.bare.as_deref(), "bare-pingora")?;
        let build = "cargo build --release -p edgewright-bench";
        anyhow::ensure!(path.is_file(), "no `{}`: run `{build}`", path.display());
        Ok(path)
    }

    /// The proxy, or `None` where it has not been built.
    ///
    /// # Errors
    /// Where the command line names a file that does not exist.
    pub(crate) fn edgewright(&self) -> Result<Option<PathBuf>> {
        let path = beside(self.edgewright.as_deref(), "edgewright")?;
        anyhow::ensure!(path.is_file() || self.edgewright.is_none(), "no `{}`", path.display());
        Ok(path.is_file().then_some(path))
    }

    /// The component of that name (`bench_header`), or `None` where the guests have not been built.
    ///
    /// # Errors
    /// Where this program's own place is unknown.
    pub(crate) fn guest(&self, name: &str) -> Result<Option<PathBuf>> {
        let directory = match &self.guests {
            Some(directory) => directory.clone(),
            None => beside(None, "../wasm32-wasip2/plugin")?,
        };
        let path = directory.join(name).with_extension("wasm");
        Ok(path.is_file().then_some(path))
    }
}

fn beside(named: Option<&Path>, name: &str) -> Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let program = std::env::current_exe().context("this program's own place is unknown")?;
    Ok(program.parent().unwrap_or(Path::new(".")).join(name))
}
