//! `edgewright reload`: has a running proxy read its configuration again, and says what became of it.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::file::ConfigFile;
use super::{BAD_INPUT, admin, err, out};

/// Time until the answer. The proxy may have to compile some plugins of 30 s each.
const ANSWER: Duration = Duration::from_secs(300);

#[derive(Debug, Args)]
pub(super) struct Reload {
    #[command(flatten)]
    file: ConfigFile,
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
        let instead = "send SIGHUP to the process, or name its `--admin` address";
        match admin::address(self.admin, &self.file, instead) {
            Ok(address) => self.ask(address),
            Err(ended) => ended,
        }
    }

    fn ask(&self, address: SocketAddr) -> ExitCode {
        let (status, body) = match admin::post(address, "/reload", ANSWER) {
            Ok(answer) => answer,
            Err(error) => return admin::out_of_reach(address, &error),
        };
        let answer: Answer = match serde_json::from_str(&body) {
            Ok(answer) => answer,
            // A refusal of the admin end itself is in words.
            Err(_) if status == 403 => {
                return admin::out_of_reach(address, &format_args!("{status}: {}", body.trim()));
            }
            Err(_) => return admin::another(address, status),
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
