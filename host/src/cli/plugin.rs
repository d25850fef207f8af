//! `edgewright plugin`: makes, builds, tests and measures plugins, a file each, and looks at components without
//! running them. Nothing that a file says of itself reaches the terminal as it is.

mod bench;
mod build;
mod cases;
mod expect;
mod manifest;
mod new;
mod stage;
mod test;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::plugin::{Access, Inspection, Kind, LoadReason, inspect, is_printable, printable};

use self::manifest::ManifestReport;
use super::{BAD_INPUT, mistake, out};

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Make a plugin to start from
    New(new::New),
    /// Build a plugin
    Build(build::Build),
    /// Send requests through a plugin, offline, and say what became of them
    Test(test::Test),
    /// Measure what the calls of a plugin cost
    Bench(bench::Bench),
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
            Plugin::New(new) => new.run(),
            Plugin::Build(build) => build.run(),
            Plugin::Test(test) => test.run(),
            Plugin::Bench(bench) => bench.run(),
            Plugin::Inspect(inspect) => inspect.run(),
        }
    }
}

impl Inspect {
    fn run(&self) -> ExitCode {
        let inspection = match inspect(&self.file) {
            Ok(inspection) => inspection,
            Err(error) => return mistake(&format!("`{}`: {error}", printable(&self.file.to_string_lossy()))),
        };
        let mut report = Report::of(&self.file, &inspection);
        report.manifest = Some(ManifestReport::beside(&self.file));
        if self.json {
            match serde_json::to_string_pretty(&report) {
                Ok(json) => out(&(escaped(&json) + "\n")),
                Err(error) => return mistake(&error.to_string()),
            }
        } else {
            out(&report.to_string());
        }
        if inspection.refused.is_some() { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
    }
}

/// Imports that are listed for people.
const IMPORTS: usize = 100;

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
    /// What the manifest has to grant.
    needs: Vec<&'static str>,
    size_bytes: usize,
    sha256: &'a str,
    /// Why the proxy would not load it.
    refused: Option<String>,
    help: Option<&'static str>,
    /// What holds for it: the manifest beside it, or the defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<ManifestReport>,
}

#[derive(Debug, Serialize)]
struct ImportReport<'a> {
    name: &'a str,
    /// Whether a plugin may have it: some only by a grant of the manifest.
    granted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<&'static str>,
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
                .map(|import| ImportReport {
                    name: &import.name,
                    granted: import.access != Access::Never,
                    needs: match import.access {
                        Access::Granted(capability) => Some(capability.grant()),
                        Access::Always | Access::Never => None,
                    },
                })
                .collect(),
            needs: inspection.needs.iter().map(|capability| capability.grant()).collect(),
            size_bytes: inspection.size,
            sha256: &inspection.sha256,
            refused: inspection.refused.as_ref().map(ToString::to_string),
            help: inspection.refused.as_ref().and_then(LoadReason::help),
            manifest: None,
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |label: &str, text: &str| writeln!(f, "{label:<14}{text}");
        line("file", &printable(&self.file.to_string_lossy()))?;
        line("kind", self.kind)?;
        if let Some(version) = self.contract {
            line("contract", &format!("edgewright:plugin@{}", printable(version)))?;
        }
        if !self.phases.is_empty() {
            line("phases", &self.phases.join(", "))?;
        }
        line("configuration", if self.takes_configuration { "yes" } else { "none" })?;
        for (index, import) in self.imports.iter().take(IMPORTS).enumerate() {
            let granted = match import.needs {
                Some(grant) => format!(" (with the grant `{grant}`)"),
                None if import.granted => String::new(),
                None => " (not granted)".to_owned(),
            };
            line(if index == 0 { "imports" } else { "" }, &format!("{}{granted}", printable(import.name)))?;
        }
        if let Some(more @ 1..) = self.imports.len().checked_sub(IMPORTS) {
            line("", &format!("and {more} more"))?;
        }
        line("size", &format!("{} bytes", self.size_bytes))?;
        line("sha256", self.sha256)?;
        for (label, text) in self.manifest.iter().flat_map(ManifestReport::lines) {
            line(label, &text)?;
        }
        match (&self.refused, self.help) {
            (Some(reason), Some(help)) => line("refused", &format!("{reason}; {help}")),
            (Some(reason), None) => line("refused", reason),
            (None, _) if self.needs.is_empty() => {
                line("loads", "yes, as far as that shows without compiling it")
            }
            (None, _) => {
                let needs: Vec<String> = self.needs.iter().map(|grant| format!("`{grant}`")).collect();
                line("loads", &format!("yes, if its manifest grants {}", needs.join(" and ")))
            }
        }
    }
}

/// JSON of the same meaning, without characters that a terminal would obey: those that JSON itself leaves as
/// they are stand in strings only.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for char in json.chars() {
        if char == '\n' || is_printable(char) {
            escaped.push(char);
        } else {
            escaped += &format!("\\u{:04x}", u32::from(char));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "a:b/c@\u{1b}[2J\u{9b}2J\r\nloads         yes\u{202e}";

    fn inspection(name: &str, imports: usize) -> Inspection {
        let import = crate::plugin::Import { name: name.to_owned(), access: Access::Never };
        Inspection {
            kind: Kind::Component,
            contract: Some(name.to_owned()),
            phases: Vec::new(),
            takes_configuration: false,
            imports: vec![import; imports],
            needs: Vec::new(),
            size: 1,
            sha256: String::new(),
            refused: Some(LoadReason::NotGranted { import: name.to_owned() }),
        }
    }

    #[test]
    fn names_can_not_forge_what_is_printed() {
        let inspection = inspection(NAME, 1);
        let report = Report::of(Path::new("a\u{1b}.wasm"), &inspection);
        let text = report.to_string();
        assert!(text.chars().all(|char| char == '\n' || is_printable(char)), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("loads")), "{text}");
        let json = escaped(&serde_json::to_string_pretty(&report).expect("JSON"));
        assert!(json.chars().all(|char| char == '\n' || is_printable(char)), "{json:?}");
        let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read["imports"][0]["name"], NAME, "the name itself is kept");
    }

    #[test]
    fn long_lists_are_cut() {
        let inspection = inspection("a:b/c@0.1.0", 20_000);
        let text = Report::of(Path::new("a.wasm"), &inspection).to_string();
        assert!(text.contains("and 19900 more"), "{text}");
        assert!(text.len() < 8_000, "{} bytes", text.len());
    }
}
