//! `edgewright status`: how a running proxy is, asked at its admin address. Knows what `/status` says, and
//! nothing of the proxy inside.

mod table;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::file::ConfigFile;
use super::{admin, out};

/// Between two looks.
const REFRESH: Duration = Duration::from_secs(1);

/// Clears a terminal and goes to its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    file: ConfigFile,
    /// Admin address of the running proxy, in place of the one in the file
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Look again each second, until it is ended
    #[arg(long)]
    watch: bool,
}

impl Status {
    pub(super) fn run(&self) -> ExitCode {
        let address = match admin::address(self.admin, &self.file, "name its `--admin` address") {
            Ok(address) => address,
            Err(ended) => return ended,
        };
        loop {
            let text = match admin::get(address, "/status") {
                Ok((200, body)) if self.json => body,
                Ok((200, body)) => match serde_json::from_str::<Value>(&body) {
                    Ok(status) => table::render(&status),
                    Err(_) => return admin::another(address, 200),
                },
                Ok((status, _)) => return admin::another(address, status),
                Err(error) => return admin::out_of_reach(address, &error),
            };
            if !self.watch {
                out(&text);
                return ExitCode::SUCCESS;
            }
            let clear = if self.json { "" } else { CLEAR };
            if io::stdout().write_all(format!("{clear}{text}").as_bytes()).is_err() {
                // The reader went away.
                return ExitCode::SUCCESS;
            }
            std::thread::sleep(REFRESH);
        }
    }
}
