//! Where one run of the bench happens: a temporary directory, free loopback ports, and which CPU runs
//! what. Knows no proxy.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::cli::Pinning;

/// Removed with all its files when dropped.
#[derive(Debug)]
pub(crate) struct Scene {
    directory: TempDir,
    pinning: Pinning,
    taskset: Option<PathBuf>,
}

/// What a process does in the run: decides its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What is measured.
    Proxy,
    /// Load generator and origin.
    Around,
    /// Any CPU.
    Anywhere,
}

impl Scene {
    /// # Errors
    /// Where no temporary directory can be made.
    pub(crate) fn new(wanted: Pinning) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("edgewright-bench-").tempdir()?;
        let taskset = program("taskset");
        let two_cpus = available_parallelism().is_ok_and(|cpus| cpus.get() >= 2);
        let pinning = if two_cpus && taskset.is_some() { wanted } else { Pinning::Free };
        Ok(Self { directory, pinning, taskset })
    }

    /// A path in the temporary directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes a directory in the temporary directory.
    ///
    /// # Errors
    /// Where it can't be made.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::create_dir_all(&path).with_context(|| format!("can't make `{}`", path.display()))?;
        Ok(path)
    }

    /// Writes a file into the temporary directory.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, content).with_context(|| format!("can't write `{}`", path.display()))?;
        Ok(path)
    }

    pub(crate) fn pinning(&self) -> Pinning {
        self.pinning
    }

    /// What to put in front of a command so that it runs where its role belongs.
    pub(crate) fn prefix(&self, role: Role) -> Vec<String> {
        let cpu = match role {
            Role::Proxy => "0",
            Role::Around => "1",
            Role::Anywhere => return Vec::new(),
        };
        match (&self.taskset, self.pinning) {
            (Some(taskset), Pinning::Apart) => {
                vec![taskset.display().to_string(), "-c".to_owned(), cpu.to_owned()]
            }
            _ => Vec::new(),
        }
    }
}

/// A loopback address that nothing listened on a moment ago.
///
/// # Errors
/// Where there is no free port.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Finds a program in `PATH` and in the directories of the administrator, which a user's `PATH` may lack.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| Path::is_file(candidate))
}

/// Finds a program that the bench can't do without.
///
/// # Errors
/// Where it is missing; says how to install it.
pub(crate) fn required(name: &str) -> Result<PathBuf> {
    program(name).with_context(|| format!("`{name}` is missing: run `tests/bench/setup.sh`"))
}
