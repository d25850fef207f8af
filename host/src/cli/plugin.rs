//! `edgewright plugin`: looks at components without running them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::plugin::inspect;

use super::{mistake, out};

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Print what a component is: phases, imports, size, hash
    Inspect(Inspect),
}

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// Component (`.wasm`)
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plugin {
    pub(super) fn run(&self) -> ExitCode {
        match self {
            Plugin::Inspect(inspect) => inspect.run(),
        }
    }
}

impl Inspect {
    fn run(&self) -> ExitCode {
        let report = match inspect(&self.file) {
            Ok(report) => report,
            Err(error) => return mistake(&error.to_string()),
        };
        if self.json {
            match serde_json::to_string_pretty(&report) {
                Ok(json) => out(&(json + "\n")),
                Err(error) => return mistake(&error.to_string()),
            }
        } else {
            out(&report.to_string());
        }
        ExitCode::SUCCESS
    }
}
