//! Why the engine, a plugin or a configuration was refused, each with what to do about it. Failures of a
//! request are [`super::exchange::Failure`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::capability::Capability;
use super::contract::PACKAGE;
use super::printable::{list, printable};
use crate::phase::Phase;

/// The engine can't be set up.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the WebAssembly engine does not run on this machine: {0}")]
    Settings(String),
    #[error("the host functions do not fit together: {0}")]
    Linker(String),
}

/// A plugin was not loaded.
#[derive(Debug, thiserror::Error)]
#[error("plugin `{plugin}` was not loaded: `{}`: {reason}", printable(&file.to_string_lossy()))]
pub struct LoadError {
    pub plugin: Arc<str>,
    pub file: PathBuf,
    /// Also in the message, so it is not the error's source.
    pub reason: LoadReason,
}

/// Why a component can't be a plugin. What comes from the component is kept as it is, and printable in the message.
#[derive(Debug, thiserror::Error)]
pub enum LoadReason {
    #[error("the file can't be read: {0}")]
    Unreadable(std::io::Error),
    #[error("not a file")]
    NotAFile,
    #[error("the file is empty")]
    Empty,
    #[error("larger than {} MiB", .limit >> 20)]
    TooLarge { limit: u64 },
    #[error("the SHA-256 is `{found}`, the manifest says `{pinned}`")]
    HashMismatch { pinned: String, found: String },
    #[error("an ELF executable, not a WebAssembly component")]
    Elf,
    #[error("not a WebAssembly component")]
    NotWasm,
    #[error("a core WebAssembly module, not a component")]
    CoreModule,
    #[error("damaged: {}", printable(.0))]
    Damaged(String),
    #[error("made for `edgewright:plugin@{}`; this proxy has `{PACKAGE}`", printable(.found))]
    OtherVersion { found: String },
    #[error("exports no phase of `{PACKAGE}`{}", exported(.exports))]
    NoPhase { exports: Vec<String> },
    #[error("import `{}` isn't granted", printable(.import))]
    NotGranted { import: String },
    #[error("exports `{phase}`, which can't wait, and imports what waits")]
    WaitsInPhase { phase: Phase },
    #[error("exports `{phase}`, which can't wait, and `limits.time` is over {} ms", .limit.as_millis())]
    TooSlowForPhase { phase: Phase, limit: Duration },
    #[error("needs what its manifest does not grant: {}", wanted(.missing))]
    NeedsGrants { missing: Vec<Capability> },
    #[error("the manifest's `body.{key}` is `{mode}`, and it does not export `{phase}`")]
    NoBodyPhase { key: &'static str, mode: &'static str, phase: Phase },
    #[error("{0}")]
    Ungrantable(String),
    #[error("does not fit the contract `{PACKAGE}`: {}", printable(.0))]
    Mismatch(String),
    #[error("does not compile: {}", printable(.0))]
    Compile(String),
    #[error("the compiler was stopped: {}", printable(.0))]
    CompilerStopped(String),
    #[error("took longer than {seconds} s to compile")]
    CompileTimeout { seconds: u64 },
    #[error("the compiler can't be started: {0}")]
    Compiler(std::io::Error),
    #[error("no instance can be made: {}", printable(.0))]
    Instantiate(String),
    #[error("does not start within {} ms of CPU time", .limit.as_millis())]
    SlowStart { limit: Duration },
}

impl LoadReason {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unreadable(_) | Self::Compiler(_) | Self::Ungrantable(_) => return None,
            Self::NotAFile | Self::Empty | Self::Elf | Self::NotWasm | Self::Damaged(_) => {
                "build the plugin again (in Rust: `cargo build --release --target wasm32-wasip2`), and \
                 copy the `.wasm` file whole"
            }
            Self::TooLarge { .. } => "build in release mode, with `strip = true` and `lto = true`",
            Self::HashMismatch { .. } => {
                "restore the file that was pinned, or change `sha256` in the manifest"
            }
            Self::CoreModule => "build for `wasm32-wasip2`: `cargo build --release --target wasm32-wasip2`",
            Self::OtherVersion { .. } | Self::Mismatch(_) => {
                "build the plugin against the SDK of this proxy's version"
            }
            Self::NoPhase { .. } => {
                "export at least one phase: `request-filter`, `response-filter`, `log-filter` and so on"
            }
            Self::NotGranted { .. } => {
                "a plugin gets clocks, random, standard output and the interfaces of the contract; no sockets, no HTTP"
            }
            Self::WaitsInPhase { .. } => {
                "leave the phase out, or split the plugin in two: what waits goes into `request-filter`"
            }
            Self::TooSlowForPhase { .. } => {
                "set `limits.time` to 10 ms or less: the call holds its worker, as nothing can wait there"
            }
            Self::NeedsGrants { .. } => {
                "if you trust it with that, write it into `grants` of the manifest beside it: \
                 `grants = { kv = true }`"
            }
            Self::NoBodyPhase { .. } => "leave the key out, or export the phase",
            Self::Compile(_) => "check the component with `wasm-tools validate`",
            Self::CompilerStopped(_) => "make the component smaller, above all its largest functions",
            Self::CompileTimeout { .. } => {
                "make the component smaller, or try again when the machine is less busy"
            }
            Self::Instantiate(_) => {
                "raise `limits.memory` in the manifest if the plugin starts with more memory; where the system can't \
                 allocate it, the limit of addresses (`ulimit -v`) must leave 4.1 GiB for each instance"
            }
            Self::SlowStart { .. } => {
                "do less at the start, or at build time: an instance may be made while a request \
                 waits for it, so no limit allows more"
            }
        })
    }
}

fn wanted(missing: &[Capability]) -> String {
    let names: Vec<String> = missing.iter().map(|capability| capability.grant().to_owned()).collect();
    list(&names)
}

fn exported(names: &[String]) -> String {
    match names {
        [] => "; it exports nothing".into(),
        names => format!("; it exports {}", list(names)),
    }
}

/// A configuration was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    #[error("plugin `{plugin}` refused its configuration: {}", printable(.message))]
    Refused { plugin: Arc<str>, message: String },
    #[error("plugin `{plugin}` takes no configuration; remove `config`")]
    TakesNone { plugin: Arc<str> },
    #[error("plugin `{plugin}` did not finish reading its configuration within {} ms of CPU time", .limit.as_millis())]
    TimedOut { plugin: Arc<str>, limit: Duration },
    #[error("plugin `{plugin}` failed while it read its configuration: {}", printable(.failure))]
    Failed { plugin: Arc<str>, failure: String },
}
