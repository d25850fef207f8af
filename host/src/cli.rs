//! The command line. Each sub-command is a file; all of them end with one of the exit codes below.

mod admin;
mod check;
mod completions;
mod explain;
mod file;
mod init;
mod plugin;
mod proxy;
mod reload;
mod run;
mod status;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::diagnostic::Diagnostic;
use crate::config::{self, Color};
use crate::plugin::{COMPILE_ARGUMENT, compile_child};

/// Bad configuration or plugin. (2 is clap's, for wrong usage.)
const BAD_INPUT: u8 = 1;

/// No running proxy could be asked.
const OUT_OF_REACH: u8 = 3;

#[derive(Debug, Parser)]
#[command(name = "edgewright", version, about = "A programmable edge proxy: WebAssembly plugins on Pingora")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the proxy of a configuration file
    Run(run::Run),
    /// Run a proxy in front of one upstream, without a file
    Proxy(proxy::Proxy),
    /// Report every mistake of a configuration file and its plugins
    Check(check::Check),
    /// Say which route a request takes, and why
    Explain(explain::Explain),
    /// Have a running proxy read its configuration again
    Reload(reload::Reload),
    /// Show how a running proxy is: routes, upstreams, plugins and what they cost
    Status(status::Status),
    /// Write a configuration to start from
    Init(init::Init),
    /// Make, build, test, measure and look at plugins
    #[command(subcommand)]
    Plugin(plugin::Plugin),
    /// Print what a shell needs to complete commands
    Completions(completions::Completions),
    /// Print the version
    Version,
}

/// Runs what the process's arguments say.
pub fn main() -> ExitCode {
    // Before anything else: a compiling child sets nothing up.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == COMPILE_ARGUMENT) {
        return compile_child();
    }
    match Cli::parse().command {
        Command::Run(run) => run.run(),
        Command::Proxy(proxy) => proxy.run(),
        Command::Check(check) => check.run(),
        Command::Explain(explain) => explain.run(),
        Command::Reload(reload) => reload.run(),
        Command::Status(status) => status.run(),
        Command::Init(init) => init.run(),
        Command::Plugin(plugin) => plugin.run(),
        Command::Completions(completions) => completions.run(),
        Command::Version => {
            out(&format!("edgewright {}\n", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
    }
}

/// Prints a result. A reader that went away is no error.
fn out(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), text.as_bytes());
}

/// Prints what a person should know.
fn err(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), text.as_bytes());
}

/// Prints mistakes, and ends with their exit code.
fn mistakes(diagnostics: &[Diagnostic]) -> ExitCode {
    err(&config::render(diagnostics, color()));
    ExitCode::from(BAD_INPUT)
}

/// Prints one mistake that has no place in a file.
fn mistake(text: &str) -> ExitCode {
    err(&format!("error: {text}\n"));
    ExitCode::from(BAD_INPUT)
}

fn color() -> Color {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stderr().is_terminal() { Color::Ansi } else { Color::Plain }
}
