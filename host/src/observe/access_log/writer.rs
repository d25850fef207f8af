//! The access log's sink: standard output, standard error or a file, written by a thread of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prometheus_client::registry::Registry;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::observe::lines::{Counts, Lines, Target};

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

/// A sink that is open.
pub struct Opened(Target);

/// Registers how many lines were written and dropped.
pub fn register(registry: &mut Registry) -> Counts {
    let counts = Counts::default();
    registry.register("edgewright_access_log_lines", "Access log lines written", counts.written.clone());
    registry.register(
        "edgewright_access_log_dropped_lines",
        "Access log lines dropped: the queue was full or the sink refused them",
        counts.dropped.clone(),
    );
    counts
}

impl Sink {
    /// The file, or what it is called in the configuration.
    pub fn path(&self) -> &Path {
        match self {
            Sink::Stdout => Path::new("stdout"),
            Sink::Stderr => Path::new("stderr"),
            Sink::File(path) => path,
        }
    }

    /// Opens it to append to.
    ///
    /// # Errors
    /// The file can't be opened.
    pub fn open(&self) -> Result<Opened, OpenFailed> {
        Ok(Opened(match self {
            Sink::Stdout => Box::new(io::stdout()),
            Sink::Stderr => Box::new(io::stderr()),
            Sink::File(path) => match open(path) {
                Ok(file) => Box::new(file),
                Err(source) => return Err(OpenFailed { path: path.clone(), source }),
            },
        }))
    }
}

impl AccessLog {
    /// Starts the log's thread, which ends when the last clone is dropped.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(sink: Opened, counts: Counts) -> io::Result<Self> {
        Lines::start("access-log", sink.0, counts).map(Self)
    }

    /// Has the lines go to another sink, or to the same path anew.
    pub fn redirect(&self, sink: Opened) {
        self.0.redirect(sink.0);
    }

    /// Lines that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.0.dropped()
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
