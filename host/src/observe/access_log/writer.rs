//! The writer of the access log: a bounded queue and one thread. Requests hand a line over without
//! waiting; where the queue is full, or the sink refuses, lines are dropped and counted.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use super::Record;

/// Lines that wait for the writer at most. At 20 ms a round this holds 400,000 requests a second.
const QUEUE: usize = 8192;

/// How long the writer rests when there is nothing to write. It polls: a thread that blocks on the queue
/// would cost each request of a quiet proxy the system call that wakes it.
const REST: Duration = Duration::from_millis(20);

/// Where the lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    Stdout,
    Stderr,
    File(PathBuf),
}

/// The file of the access log could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("the access log `{path}` can't be opened: {source}")]
pub struct OpenFailed {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// The access log. Cloning shares it.
#[derive(Clone)]
pub struct AccessLog(Arc<Inner>);

struct Inner {
    queue: SyncSender<Vec<u8>>,
    /// Lines that went into the queue.
    queued: AtomicU64,
    /// Lines of the queue that the writer is done with.
    done: AtomicU64,
    written: Counter,
    dropped: Counter,
}

impl AccessLog {
    /// Opens the sink and starts the writer's thread, which ends when the last clone is dropped.
    ///
    /// # Errors
    /// The file can't be opened, or no thread can be started.
    pub fn start(sink: &Sink) -> Result<Self, OpenFailed> {
        let target: Box<dyn Write + Send> = match sink {
            Sink::Stdout => Box::new(io::stdout()),
            Sink::Stderr => Box::new(io::stderr()),
            Sink::File(path) => {
                let opened = OpenOptions::new().create(true).append(true).open(path);
                Box::new(opened.map_err(|source| OpenFailed { path: path.clone(), source })?)
            }
        };
        let (queue, lines) = sync_channel(QUEUE);
        let log = Self(Arc::new(Inner {
            queue,
            queued: AtomicU64::new(0),
            done: AtomicU64::new(0),
            written: Counter::default(),
            dropped: Counter::default(),
        }));
        let weak = Arc::downgrade(&log.0);
        std::thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || write_all(&lines, target, &weak))
            .map_err(|source| OpenFailed { path: PathBuf::from("(thread)"), source })?;
        Ok(log)
    }

    /// Registers how many lines were written and dropped.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("edgewright_access_log_lines", "Access log lines written", self.0.written.clone());
        registry.register(
            "edgewright_access_log_dropped_lines",
            "Access log lines dropped: the queue was full or the sink refused them",
            self.0.dropped.clone(),
        );
    }

    /// Hands a line to the writer. Never waits.
    pub fn write(&self, record: &Record<'_>) {
        let mut line = Vec::with_capacity(512);
        if serde_json::to_writer(&mut line, record).is_err() {
            self.0.dropped.inc();
            return;
        }
        line.push(b'\n');
        match self.0.queue.try_send(line) {
            Ok(()) => {
                self.0.queued.fetch_add(1, Ordering::Release);
            }
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.0.dropped.inc();
            }
        }
    }

    /// Waits until what was handed over so far is written, at most `deadline` long. For the end of the
    /// process; says whether all was written.
    pub fn flush(&self, deadline: Duration) -> bool {
        let until = Instant::now() + deadline;
        let due = self.0.queued.load(Ordering::Acquire);
        while self.0.done.load(Ordering::Acquire) < due {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

/// The writer's thread: drains the queue in batches, one `write` a batch.
fn write_all(lines: &Receiver<Vec<u8>>, mut target: Box<dyn Write + Send>, log: &std::sync::Weak<Inner>) {
    let mut batch: Vec<u8> = Vec::with_capacity(64 * 1024);
    loop {
        let mut count = 0u64;
        let mut ended = false;
        while batch.len() < 256 * 1024 {
            match lines.try_recv() {
                Ok(line) => {
                    batch.extend_from_slice(&line);
                    count += 1;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    ended = true;
                    break;
                }
            }
        }
        if count > 0 {
            let written = target.write_all(&batch).and_then(|()| target.flush());
            batch.clear();
            if let Some(log) = log.upgrade() {
                match written {
                    Ok(()) => log.written.inc_by(count),
                    Err(_) => log.dropped.inc_by(count),
                };
                log.done.fetch_add(count, Ordering::Release);
            }
        } else if ended {
            return;
        } else {
            std::thread::sleep(REST);
        }
    }
}
