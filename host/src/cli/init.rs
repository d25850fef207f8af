//! `edgewright init`: a configuration to start from. Never overwrites.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{mistake, out};

/// Checked by a test, like every example.
const STARTER: &str = r#"# Where to listen.
[[listeners]]
address = "127.0.0.1:8080"

# Where requests go.
[upstreams.main]
peers = ["127.0.0.1:9000"]

# NAME.wasm, with its manifest NAME.toml beside it.
[plugins]
dir = "plugins"

# What takes which requests. `edgewright explain GET http://HOST/PATH` says which one, and why.
[[routes]]
name = "all"
match = { path = "/*" }
plugins = []                     # for example ["api-key"], or [{ name = "api-key", config = { … } }]
upstream = "main"

[access-log]
path = "stdout"

# /metrics /healthz /readyz /status, and `edgewright status`.
[admin]
address = "127.0.0.1:9901"
"#;

#[derive(Debug, Args)]
pub(super) struct Init {
    /// Directory to write to
    #[arg(default_value = ".")]
    dir: PathBuf,
}

impl Init {
    pub(super) fn run(&self) -> ExitCode {
        let file = self.dir.join("edgewright.toml");
        match write(&self.dir, &file) {
            Ok(()) => {
                let shown = file.display();
                out(&format!("wrote {shown}. Next:\n  edgewright check {shown}\n  edgewright run {shown}\n"));
                ExitCode::SUCCESS
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                mistake(&format!("`{}` is there already, and is left as it is", file.display()))
            }
            Err(error) => mistake(&format!("`{}` can't be written: {error}", file.display())),
        }
    }
}

fn write(dir: &Path, file: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    OpenOptions::new().write(true).create_new(true).open(file)?.write_all(STARTER.as_bytes())?;
    fs::create_dir_all(dir.join("plugins"))
}
