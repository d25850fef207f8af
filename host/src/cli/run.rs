//! `edgewright run`: the proxy of a configuration file, until a signal ends it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::config::{self, Checked};
use crate::control::reload::Source;
use crate::observe::logging;
use crate::server::{self, CannotStart};
use crate::snapshot::Failure;

use super::{BAD_INPUT, err, mistake, mistakes};

#[derive(Debug, Args)]
pub(super) struct Run {
    /// Configuration file
    #[arg(short, long, value_name = "FILE", default_value = "edgewright.toml")]
    config: PathBuf,
    /// Take changes of the files without being asked to
    #[arg(long)]
    watch: bool,
}

impl Run {
    pub(super) fn run(&self) -> ExitCode {
        match config::load(&self.config) {
            Ok(checked) => {
                let file = self.config.clone();
                let read = Box::new(move || config::load(&file));
                let source = Source { file: Some(self.config.clone()), watch: self.watch, read };
                start(&checked, source)
            }
            Err(diagnostics) => mistakes(&diagnostics),
        }
    }
}

/// Runs a checked configuration, which `source` reads anew for reloads.
pub(super) fn start(checked: &Checked, source: Source) -> ExitCode {
    if !checked.warnings.is_empty() {
        err(&config::render(&checked.warnings, super::color()));
    }
    let ended = server::run(&checked.config, source);
    logging::flush(Duration::from_secs(1));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(CannotStart::Plugins(failures)) => {
            mistakes(&failures.iter().map(Failure::diagnostic).collect::<Vec<_>>())
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
