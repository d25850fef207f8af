//! `edgewright run`: the proxy of a configuration file, until a signal ends it.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::config::{self, Checked};
use crate::control::reload::Source;
use crate::observe::logging;
use crate::server::{self, CannotStart};
use crate::snapshot::Failure;

use super::file::ConfigFile;
use super::{BAD_INPUT, err, mistake, mistakes};

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    file: ConfigFile,
    /// Take changes of the files without being asked to
    #[arg(long)]
    watch: bool,
}

impl Run {
    pub(super) fn run(&self) -> ExitCode {
        let file = self.file.path().to_owned();
        match config::load(&file) {
            Ok(checked) => {
                let source = file.clone();
                let read = Box::new(move || config::load(&source));
                let source = Source { file: Some(file), watch: self.watch, read };
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
    let by_flags = source.file.is_none();
    let ended = server::run(&checked.config, source);
    logging::flush(Duration::from_secs(1));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(CannotStart::Plugins(failures)) => {
            mistakes(&failures.iter().map(Failure::diagnostic).collect::<Vec<_>>())
        }
        Err(CannotStart::Listeners(failures)) => {
            for failure in &failures {
                let is_admin =
                    checked.config.admin.as_ref().is_some_and(|end| end.address == failure.address);
                let flag = match (by_flags, is_admin) {
                    (false, _) => "",
                    (true, false) => " (`--from` says which)",
                    (true, true) => " (`--admin` says which)",
                };
                mistake(&format!("{failure}{flag}"));
            }
            ExitCode::from(BAD_INPUT)
        }
        Err(other) => mistake(&other.to_string()),
    }
}
