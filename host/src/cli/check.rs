//! `edgewright check`: every mistake of a configuration file and of the plugins it names, without running it.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::Config;
use crate::config::{self, codes};
use crate::observe::registry;
use crate::plugin::{Compiler, Engine, EngineOptions};
use crate::snapshot::{Builder, Failure};
use crate::upstream::Upstreams;

use super::file::ConfigFile;
use super::{BAD_INPUT, color, err, out};

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    file: ConfigFile,
    /// Print mistakes and warnings as a JSON array
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(&self) -> ExitCode {
        let (found, summary) = match config::load(self.file.path()) {
            Ok(checked) => {
                let mut found = checked.warnings;
                found.extend(plugins(&checked.config));
                (found, Some(summary(&checked.config)))
            }
            Err(diagnostics) => (diagnostics, None),
        };
        let failed = found.iter().any(Diagnostic::is_error);
        if self.json {
            match serde_json::to_string_pretty(&found) {
                Ok(json) => out(&(json + "\n")),
                Err(error) => return super::mistake(&error.to_string()),
            }
        } else {
            err(&config::render(&found, color()));
            if let (false, Some(summary)) = (failed, summary) {
                out(&format!("{}: ok: {summary}\n", self.file.path().display()));
            }
        }
        if failed { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
    }
}

/// What is wrong with the plugins: loads and configures them as a start would.
fn plugins(config: &Config) -> Vec<Diagnostic> {
    if config.plugins.is_empty() {
        return Vec::new();
    }
    let options = EngineOptions {
        workers: NonZeroUsize::MIN,
        cache: config.plugin_cache.clone(),
        compiler: Compiler::Child,
    };
    let engine = match Engine::new(&options) {
        Ok(engine) => engine,
        Err(error) => return vec![Diagnostic::error(codes::PLUGIN_LOAD, error.to_string())],
    };
    let mut registry = registry::registry();
    let upstreams = Arc::new(Upstreams::build(config));
    match Builder::new(engine, &mut registry).build(config, upstreams, None) {
        Ok(_) => Vec::new(),
        Err(failures) => failures.iter().map(Failure::diagnostic).collect(),
    }
}

fn summary(config: &Config) -> String {
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    [
        count(config.listeners.len(), "listener"),
        count(config.routes.len(), "route"),
        count(config.upstreams.len(), "upstream"),
        count(config.plugins.len(), "plugin"),
    ]
    .join(", ")
}
