//! `edgewright reload`: has a running proxy read its configuration again, and says what became of it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use crate::config;
use crate::server::reachable;

use super::{BAD_INPUT, OUT_OF_REACH, err, mistake, mistakes, out};

/// Time to connect: the admin address is on this machine.
const CONNECT: Duration = Duration::from_secs(5);

/// Time until the answer. The proxy may have to compile some plugins of 30 s each.
const ANSWER: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
pub(super) struct Reload {
    /// Configuration file of the running proxy: its `[admin]` says where to ask
    #[arg(short, long, value_name = "FILE", default_value = "edgewright.toml")]
    config: PathBuf,
    /// Admin address of the running proxy, in place of the one in the file
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What of the answer matters here.
#[derive(Debug, Deserialize)]
struct Answer {
    outcome: String,
    generation: u64,
    text: String,
}

impl Reload {
    pub(super) fn run(&self) -> ExitCode {
        match self.admin.or_else(|| config::admin_address(&self.config)) {
            Some(address) => self.ask(address),
            None => match config::load(&self.config) {
                Err(diagnostics) => mistakes(&diagnostics),
                Ok(_) => mistake(&format!(
                    "`{}` has no `[admin]` to ask: send SIGHUP to the process, or name its `--admin` address",
                    self.config.display()
                )),
            },
        }
    }

    fn ask(&self, address: SocketAddr) -> ExitCode {
        let address = reachable(address);
        let unreachable = |why: &dyn std::fmt::Display| {
            err(&format!("error: no proxy answers at `{address}`: {why}\n"));
            ExitCode::from(OUT_OF_REACH)
        };
        let (status, body) = match post(address) {
            Ok(answer) => answer,
            Err(error) => return unreachable(&error),
        };
        let answer: Answer = match serde_json::from_str(&body) {
            Ok(answer) => answer,
            Err(_) => return unreachable(&format!("{status}: {}", body.trim())),
        };
        if self.json {
            out(&body);
        } else {
            err(&answer.text);
        }
        let Answer { outcome, generation, .. } = answer;
        if status == 200 {
            if !self.json {
                out(&format!("reloaded: generation {generation} serves\n"));
            }
            return ExitCode::SUCCESS;
        }
        err(&format!("error: not reloaded ({outcome}): generation {generation} goes on\n"));
        ExitCode::from(BAD_INPUT)
    }
}

/// Status and body of the answer.
fn post(address: SocketAddr) -> Result<(u16, String), ureq::Error> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(ANSWER))
        // Not through a proxy of the environment: it would not be this machine that asks.
        .proxy(None)
        .build()
        .into();
    let mut response = agent.post(format!("http://{address}/reload")).send_empty()?;
    Ok((response.status().as_u16(), response.body_mut().read_to_string()?))
}
