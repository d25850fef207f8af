//! The access log's sink: standard output, standard error or a file, written by a thread of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::observe::lines::{Counts, Lines, Target};

use super::{Format, Record};

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
pub struct AccessLog {
    lines: Lines,
    style: Arc<Style>,
}

/// Which lines are written, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    pub format: Format,
    /// Of the requests, in percent. Those that failed (5xx, or no response) are always written.
    pub sample: u8,
}

impl Default for Style {
    /// Every line, in JSON.
    fn default() -> Self {
        Self { format: Format::Json, sample: 100 }
    }
}

/// A sink that is open.
pub struct Opened(Target);

/// Registers how many lines were written and dropped, and how many writes failed.
pub fn register(registry: &mut Registry) -> Counts {
    let counts = Counts::default();
    registry.register("edgewright_access_log_lines", "Access log lines written", counts.written.clone());
    registry.register(
        "edgewright_access_log_dropped_lines",
        "Access log lines dropped: the queue was full or the sink refused them",
        counts.dropped.clone(),
    );
    registry.register(
        "edgewright_access_log_write_errors",
        "Writes that the access log's sink refused, each of one or more lines",
        counts.errors.clone(),
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
        let lines = Lines::start("access-log", sink.0, counts)?;
        Ok(Self { lines, style: Arc::default() })
    }

    /// The same log, whose lines look like this.
    #[must_use]
    pub fn styled(&self, style: Style) -> Self {
        Self { lines: self.lines.clone(), style: Arc::new(style) }
    }

    /// Has the lines go to another sink, or to the same path anew.
    pub fn redirect(&self, sink: Opened) {
        self.lines.redirect(sink.0);
    }

    /// Lines that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.lines.dropped()
    }

    /// Whether the line of a request with this status is wanted. To be asked once.
    pub fn wants(&self, status: u16) -> bool {
        let sample = self.style.sample;
        sample >= 100 || status >= 500 || status == 0 || fastrand::u8(0..100) < sample
    }

    /// Hands a line to the writer. Never waits.
    pub fn write(&self, record: &Record<'_>) {
        let Ok(line) = self.style.format.line(record) else {
            self.lines.drop_one();
            return;
        };
        self.lines.send(line);
    }

    /// Waits until what was handed over so far is written, at most `deadline` long.
    pub fn flush(&self, deadline: Duration) -> bool {
        self.lines.flush(deadline)
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
