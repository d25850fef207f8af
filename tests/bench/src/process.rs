//! One process of the run: started with its output in a file, waited for, measured, and killed by its id
//! when dropped. Knows no proxy.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::scene::{Role, Scene};
use crate::usage::{CpuReading, Footprint};

/// Compiling plugins without a cache is the slowest start there is.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// A killed process is gone as soon as the kernel has freed its memory.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    pid: u32,
    output: PathBuf,
    started: Instant,
    /// What ends it.
    end: Signal,
}

impl Process {
    /// Starts `command` (the program first). The process must not fork: it is measured and killed as one.
    ///
    /// # Errors
    /// Where it can't be started.
    pub(crate) fn start<S: AsRef<OsStr>>(
        scene: &Scene,
        name: &str,
        role: Role,
        command: &[S],
    ) -> Result<Self> {
        let output = scene.path(&format!("{name}.out"));
        let file = File::create(&output)?;
        let prefix = scene.prefix(role);
        let mut words = prefix.iter().map(AsRef::as_ref).chain(command.iter().map(AsRef::as_ref));
        let program = words.next().context("an empty command")?;
        let child = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("can't start {name}"))?;
        let pid = child.id().with_context(|| format!("{name} ended at once"))?;
        Ok(Self { name: name.to_owned(), child, pid, output, started: Instant::now(), end: Signal::KILL })
    }

    /// Has it ended by this signal in the place of a kill.
    pub(crate) fn ends_at(&mut self, signal: Signal) {
        self.end = signal;
    }

    /// Waits until something listens on `address`, and says how long that took since the start.
    ///
    /// # Errors
    /// Where the process ends before, with what it printed; or after a minute.
    pub(crate) async fn ready(&mut self, address: SocketAddr) -> Result<Duration> {
        loop {
            if TcpStream::connect(address).await.is_ok() {
                return Ok(self.started.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status}: {}", self.name, self.tail());
            }
            if self.started.elapsed() > START_DEADLINE {
                bail!("{} does not listen on {address}: {}", self.name, self.tail());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// Where the process is gone.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let pid = pid.context("a process without an id")?;
        kill_process(pid, signal).with_context(|| format!("{} is gone: {}", self.name, self.tail()))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// # Errors
    /// Where the process is gone.
    pub(crate) fn cpu(&self) -> Result<CpuReading> {
        CpuReading::of(self.pid).with_context(|| format!("{} is gone: {}", self.name, self.tail()))
    }

    /// # Errors
    /// Where the process is gone.
    pub(crate) fn footprint(&self) -> Result<Footprint> {
        Footprint::of(self.pid).with_context(|| format!("{} is gone: {}", self.name, self.tail()))
    }

    /// The first line of what it printed so far that has this text.
    pub(crate) fn line(&self, text: &str) -> Option<String> {
        let output = fs::read(&self.output).unwrap_or_default();
        String::from_utf8_lossy(&output).lines().find(|line| line.contains(text)).map(str::to_owned)
    }

    /// The last lines of what it printed.
    fn tail(&self) -> String {
        let output = fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&output);
        let lines: Vec<&str> = text.lines().collect();
        lines.iter().skip(lines.len().saturating_sub(10)).copied().collect::<Vec<_>>().join("\n")
    }
}

/// A command that may have so many descriptors and can't raise its limit: a shell sets it and becomes the command.
pub(crate) fn within_descriptors(limit: u32, command: Vec<String>) -> Vec<String> {
    let script = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
    ["sh".to_owned(), "-c".to_owned(), script].into_iter().chain(command).collect()
}

/// The limit of descriptors that the processes of the run have, in words.
pub(crate) fn descriptors() -> String {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

impl Drop for Process {
    /// Kills it and waits until it is gone: its files and its control group are removed next.
    fn drop(&mut self) {
        let deadline = Instant::now() + STOP_DEADLINE;
        // An error here means that it ended by itself.
        let _ = self.signal(self.end);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
