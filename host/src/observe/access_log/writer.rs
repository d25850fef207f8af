//! The access log's sink: standard output, standard error or a file, written by a thread of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prometheus_client::registry::Registry;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::observe::lines::Lines;

use super::Record;

/// Where the lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    Stdout,
    Stderr,
    File(PathBuf),
}

/// The access log can't be written.
#[derive(Debug, thiserror::Error)]
#[error("the access log `{path}` can't be opened: {source}")]
pub struct OpenFailed {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// The access log. Cloning shares it.
#[derive(Clone)]
pub struct AccessLog(Lines);

impl AccessLog {
    /// Opens the sink and starts its thread, which ends when the last clone is dropped.
    ///
    /// # Errors
    /// The file can't be opened, or no thread can be started.
    pub fn start(sink: &Sink) -> Result<Self, OpenFailed> {
        let name = "access-log";
        let (path, started) = match sink {
            Sink::Stdout => (Path::new("stdout"), Lines::start(name, io::stdout())),
            Sink::Stderr => (Path::new("stderr"), Lines::start(name, io::stderr())),
            Sink::File(path) => (path.as_path(), open(path).and_then(|file| Lines::start(name, file))),
        };
        started.map(Self).map_err(|source| OpenFailed { path: path.to_owned(), source })
    }

    /// Registers how many lines were written and dropped.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "edgewright_access_log_lines",
            "Access log lines written",
            self.0.written().clone(),
        );
        registry.register(
            "edgewright_access_log_dropped_lines",
            "Access log lines dropped: the queue was full or the sink refused them",
            self.0.dropped().clone(),
        );
    }

    /// Lines that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.0.dropped().get()
    }

    /// Hands a line to the writer. Never waits.
    pub fn write(&self, record: &Record<'_>) {
        let mut line = Vec::with_capacity(512);
        if serde_json::to_writer(&mut line, record).is_err() {
            self.0.drop_one();
            return;
        }
        line.push(b'\n');
        self.0.send(line);
    }

    /// Waits until what was handed over so far is written, at most `deadline` long.
    pub fn flush(&self, deadline: Duration) -> bool {
        self.0.flush(deadline)
    }
}

/// Opens a file to append to. A pipe without a reader is refused at once instead of being waited for; the
/// flag that makes it so is taken back, so that the writer's thread waits for a reader that is slow.
fn open(path: &Path) -> io::Result<File> {
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().create(true).append(true).custom_flags(nonblock).open(path)?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}
