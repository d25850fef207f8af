//! `edgewright proxy`: one upstream, some plugins, no file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::config::{self, ProxyFlags};
use crate::control::reload::Source;

use super::{mistakes, run};

#[derive(Debug, Args)]
pub(super) struct Proxy {
    /// Upstream, as HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    from: String,
    /// Component to run on every request; may be given several times. NAME.toml beside it is its manifest
    #[arg(long, value_name = "FILE")]
    plugin: Vec<PathBuf>,
    /// Worker threads; the CPU quota if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Admin address (metrics, health, status); none if not given
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<String>,
    /// Take changes of the plugins without being asked to
    #[arg(long)]
    watch: bool,
}

impl Proxy {
    pub(super) fn run(&self) -> ExitCode {
        let flags = ProxyFlags {
            to: self.to.clone(),
            from: Some(self.from.clone()),
            plugins: self.plugin.clone(),
            threads: self.threads,
            admin: self.admin.clone(),
        };
        match config::for_proxy(&flags) {
            Ok(checked) => {
                let watch = self.watch;
                let read = Box::new(move || config::for_proxy(&flags));
                run::start(&checked, Source { file: None, watch, read })
            }
            Err(diagnostics) => mistakes(&diagnostics),
        }
    }
}
