//! `edgewright completions`: what a shell needs to complete commands and flags.

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, out};

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell to write them for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> ExitCode {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "edgewright", &mut text);
        out(&String::from_utf8_lossy(&text));
        ExitCode::SUCCESS
    }
}
