//! The configuration file that a command is about: `FILE` or `--config FILE`, whichever comes to mind.

use std::path::{Path, PathBuf};

use clap::Args;

/// Where it is if nobody says.
const DEFAULT: &str = "edgewright.toml";

#[derive(Debug, Args)]
pub(super) struct ConfigFile {
    /// Configuration file; `edgewright.toml` if not given
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
    /// Configuration file, too
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    pub(super) fn path(&self) -> &Path {
        self.named().unwrap_or(Path::new(DEFAULT))
    }

    /// What is named, if any is.
    pub(super) fn named(&self) -> Option<&Path> {
        self.file.as_deref().or(self.config.as_deref())
    }
}
