//! `edgewright run`: the proxy of a configuration file, until a signal ends it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::config::{self, Checked};
use crate::observe::logging;
use crate::server::{self, CannotStart};

use super::{BAD_INPUT, check, err, mistake, mistakes};

#[derive(Debug, Args)]
pub(super) struct Run {
    /// Configuration file
    #[arg(short, long, value_name = "FILE", default_value = "edgewright.toml")]
    config: PathBuf,
}

impl Run {
    pub(super) fn run(&self) -> ExitCode {
        match config::load(&self.config) {
            Ok(checked) => start(&checked),
            Err(diagnostics) => mistakes(&diagnostics),
        }
    }
}

/// Runs a checked configuration.
pub(super) fn start(checked: &Checked) -> ExitCode {
    if !checked.warnings.is_empty() {
        err(&config::render(&checked.warnings, super::color()));
    }
    let ended = server::run(&checked.config);
    logging::flush(Duration::from_secs(1));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(CannotStart::Plugins(failures)) => {
            mistakes(&failures.iter().map(check::diagnostic).collect::<Vec<_>>())
        }
        Err(CannotStart::Listeners(failures)) => {
            for failure in &failures {
                mistake(&failure.to_string());
            }
            ExitCode::from(BAD_INPUT)
        }
        Err(other) => mistake(&other.to_string()),
    }
}
