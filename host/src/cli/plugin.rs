//! `edgewright plugin`: looks at components without running them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::plugin::{Inspection, Kind, LoadReason, inspect};

use super::{BAD_INPUT, mistake, out};

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
        let inspection = match inspect(&self.file) {
            Ok(inspection) => inspection,
            Err(error) => return mistake(&format!("`{}`: {error}", self.file.display())),
        };
        let report = Report::of(&self.file, &inspection);
        if self.json {
            match serde_json::to_string_pretty(&report) {
                Ok(json) => out(&(json + "\n")),
                Err(error) => return mistake(&error.to_string()),
            }
        } else {
            out(&report.to_string());
        }
        if inspection.refused.is_some() { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
    }
}

/// What is printed of a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report<'a> {
    file: &'a Path,
    kind: &'static str,
    /// Version of the contract.
    contract: Option<&'a str>,
    phases: Vec<&'static str>,
    takes_configuration: bool,
    imports: Vec<ImportReport<'a>>,
    size_bytes: usize,
    sha256: &'a str,
    /// Why the proxy would not load it.
    refused: Option<String>,
    help: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct ImportReport<'a> {
    name: &'a str,
    granted: bool,
}

impl<'a> Report<'a> {
    fn of(file: &'a Path, inspection: &'a Inspection) -> Self {
        Self {
            file,
            kind: match inspection.kind {
                Kind::Component => "component",
                Kind::CoreModule => "core module",
                Kind::Elf => "ELF executable",
                Kind::Empty => "empty",
                Kind::Other => "not WebAssembly",
            },
            contract: inspection.contract.as_deref(),
            phases: inspection.phases.iter().map(|phase| phase.name()).collect(),
            takes_configuration: inspection.takes_configuration,
            imports: inspection
                .imports
                .iter()
                .map(|import| ImportReport { name: &import.name, granted: import.granted })
                .collect(),
            size_bytes: inspection.size,
            sha256: &inspection.sha256,
            refused: inspection.refused.as_ref().map(ToString::to_string),
            help: inspection.refused.as_ref().and_then(LoadReason::help),
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |label: &str, text: &str| writeln!(f, "{label:<14}{text}");
        line("file", &self.file.display().to_string())?;
        line("kind", self.kind)?;
        if let Some(version) = self.contract {
            line("contract", &format!("edgewright:plugin@{version}"))?;
        }
        if !self.phases.is_empty() {
            line("phases", &self.phases.join(", "))?;
        }
        line("configuration", if self.takes_configuration { "yes" } else { "none" })?;
        for (index, import) in self.imports.iter().enumerate() {
            let granted = if import.granted { "" } else { " (not granted)" };
            line(if index == 0 { "imports" } else { "" }, &format!("{}{granted}", import.name))?;
        }
        line("size", &format!("{} bytes", self.size_bytes))?;
        line("sha256", self.sha256)?;
        match (&self.refused, self.help) {
            (Some(reason), Some(help)) => line("refused", &format!("{reason}; {help}")),
            (Some(reason), None) => line("refused", reason),
            (None, _) => line("loads", "yes, as far as that shows without compiling it"),
        }
    }
}
