//! `bench`: what a request costs, measured on the proxies' own CPU time, side by side in one run. Only
//! the way in: reads the command line, and stops everything it started when it ends or is interrupted.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a report is what this binary is for")]

mod cli;

mod limits;
mod tables;

mod contender;
mod rounds;

mod bare;
mod client;
mod crowd;
mod dns_server;
mod edgewright;
mod load;
mod nginx;
mod steady;

mod cgroup;
mod process;
mod scene;
mod slow_origin;
mod usage;

mod report;
mod stats;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(until_interrupted(cli)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command. On Ctrl-C and SIGTERM its future is dropped, and with it every process and the
/// temporary directory.
async fn until_interrupted(cli: Cli) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        outcome = run(cli) => outcome,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        _ = terminate.recv() => anyhow::bail!("terminated"),
    }
}

async fn run(cli: Cli) -> Result<()> {
    match &cli.command {
        Some(Command::Limits(bounds)) => limits::run(&cli.options, bounds).await,
        None => tables::run(&cli.options).await,
    }
}
