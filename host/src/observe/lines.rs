//! Lines that are written by a thread of their own: a bounded queue that nobody waits for. A slow disk, a full
//! one or a pipe that nobody reads never holds up a worker; what can't be written is counted, never silently
//! lost. Knows nothing of what the lines say.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;

/// Lines that wait for the writer at most. At 20 ms a round this holds 400,000 lines a second.
const QUEUE: usize = 8192;

/// How long the writer rests when there is nothing to write. It polls: a thread that blocks on the queue
/// would cost each request of a quiet proxy the system call that wakes it.
const REST: Duration = Duration::from_millis(20);

/// Between two warnings of a sink that refuses lines: it may refuse thousands a second, for hours.
const WARNING: Duration = Duration::from_mins(1);

/// Bytes that are written at once at most.
const BATCH: usize = 256 * 1024;

/// A writer of lines. Cloning shares it; its thread ends when the last clone is dropped.
#[derive(Clone)]
pub struct Lines(Arc<Inner>);

struct Inner {
    queue: SyncSender<Vec<u8>>,
    /// Lines that went into the queue.
    queued: AtomicU64,
    /// Lines of the queue that the writer is done with.
    done: AtomicU64,
    counts: Counts,
    redirected: AtomicBool,
    /// What the lines are to go into from now on.
    next: Mutex<Option<Target>>,
}

/// What became of lines. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Lines that were written.
    pub written: Counter,
    /// Lines that were not: the queue was full, or the sink refused them.
    pub dropped: Counter,
    /// Writes that the sink refused.
    pub errors: Counter,
}

/// What lines go into.
pub type Target = Box<dyn Write + Send>;

impl Lines {
    /// Starts the writer's thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(name: &str, target: impl Write + Send + 'static, counts: Counts) -> io::Result<Self> {
        let (queue, lines) = sync_channel(QUEUE);
        let shared = Self(Arc::new(Inner {
            queue,
            queued: AtomicU64::new(0),
            done: AtomicU64::new(0),
            counts,
            redirected: AtomicBool::new(false),
            next: Mutex::default(),
        }));
        let inner = Arc::downgrade(&shared.0);
        let mut sink: Sink<Target> = Sink::new(Box::new(target));
        let log = name.to_owned();
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || write_all(&lines, &mut sink, &inner, &log))?;
        Ok(shared)
    }

    /// Hands over a line that ends with a line feed. Never waits.
    pub fn send(&self, line: Vec<u8>) {
        match self.0.queue.try_send(line) {
            Ok(()) => {
                self.0.queued.fetch_add(1, Ordering::Release);
            }
            // Full, or the thread is gone.
            Err(_) => {
                self.0.counts.dropped.inc();
            }
        }
    }

    /// Has the lines go into something else, those that still wait included.
    pub fn redirect(&self, target: Target) {
        *self.0.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(target);
        self.0.redirected.store(true, Ordering::Release);
    }

    /// Counts a line that could not be made.
    pub fn drop_one(&self) {
        self.0.counts.dropped.inc();
    }

    /// Lines that were dropped.
    pub fn dropped(&self) -> u64 {
        self.0.counts.dropped.get()
    }

    /// Waits until what was handed over so far is written, at most `deadline` long. For the end of the
    /// process; says whether the writer was done with all.
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

impl Inner {
    fn redirection(&self) -> Option<Target> {
        if !self.redirected.swap(false, Ordering::Acquire) {
            return None;
        }
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The writer's thread: drains the queue in batches.
fn write_all(lines: &Receiver<Vec<u8>>, sink: &mut Sink<Target>, shared: &Weak<Inner>, log: &str) {
    let mut warned: Option<Instant> = None;
    let mut batch: Vec<u8> = Vec::with_capacity(64 * 1024);
    loop {
        if let Some(target) = shared.upgrade().and_then(|shared| shared.redirection()) {
            *sink = Sink::new(target);
        }
        let mut count = 0u64;
        let mut ended = false;
        while batch.len() < BATCH {
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
            let written = sink.write(&batch).min(count);
            batch.clear();
            let refused = sink.refused.take();
            if let Some(error) = &refused
                && warned.is_none_or(|at| at.elapsed() >= WARNING)
            {
                warned = Some(Instant::now());
                tracing::warn!(log, %error, lines = count - written, "lines of a log can't be written");
            }
            if let Some(shared) = shared.upgrade() {
                shared.counts.errors.inc_by(u64::from(refused.is_some()));
                shared.counts.written.inc_by(written);
                shared.counts.dropped.inc_by(count - written);
                shared.done.fetch_add(count, Ordering::Release);
            }
        } else if ended {
            return;
        } else {
            std::thread::sleep(REST);
        }
    }
}

/// What the lines go into, and whether the last one of them is only half there.
struct Sink<W> {
    target: W,
    torn: bool,
    /// Why the last write was not taken whole.
    refused: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    fn new(target: W) -> Self {
        Self { target, torn: false, refused: None }
    }

    /// Writes lines, and returns how many of them are there whole. A line that was cut by an error is closed
    /// by a line feed before the next one, so that it spoils no other.
    fn write(&mut self, lines: &[u8]) -> u64 {
        if self.torn {
            if let Err(error) = self.target.write_all(b"\n") {
                self.refused = Some(error);
                return 0;
            }
            self.torn = false;
        }
        let mut rest = lines;
        while !rest.is_empty() {
            match self.target.write(rest) {
                Ok(0) => {
                    self.refused = Some(io::ErrorKind::WriteZero.into());
                    break;
                }
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.refused = Some(error);
                    break;
                }
            }
        }
        if let Err(error) = self.target.flush() {
            self.refused.get_or_insert(error);
        }
        let written = lines.get(..lines.len() - rest.len()).unwrap_or_default();
        self.torn = written.last().is_some_and(|byte| *byte != b'\n');
        written.iter().filter(|byte| **byte == b'\n').count() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    /// Takes some bytes, then refuses until it is emptied.
    struct Small {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.taken.extend_from_slice(bytes.get(..count).unwrap_or_default());
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_was_cut_spoils_no_other() {
        let mut sink = Sink::new(Small { taken: Vec::new(), room: 6 });
        assert_eq!(sink.write(b"one\ntwo\nthree\n"), 1);
        assert!(sink.refused.take().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull));
        assert_eq!(sink.write(b"four\n"), 0, "still full");
        sink.target.room = 100;
        assert_eq!(sink.write(b"five\nsix\n"), 2);
        assert_eq!(
            sink.refused.take().map(|error| error.kind()),
            Some(io::ErrorKind::StorageFull),
            "of the write before"
        );
        assert_eq!(sink.target.taken, b"one\ntw\nfive\nsix\n");
    }

    #[test]
    fn lines_go_into_something_else_when_they_are_told_to() {
        let (mut first, writer) = io::pipe().unwrap();
        let counts = Counts::default();
        let lines = Lines::start("test", writer, counts.clone()).unwrap();
        lines.send(b"one\n".to_vec());
        assert!(lines.flush(Duration::from_secs(10)));
        let (mut second, writer) = io::pipe().unwrap();
        lines.redirect(Box::new(writer));
        lines.send(b"two\n".to_vec());
        assert!(lines.flush(Duration::from_secs(10)));
        assert_eq!((counts.written.get(), lines.dropped()), (2, 0));
        drop(lines);
        let (mut before, mut after) = (String::new(), String::new());
        first.read_to_string(&mut before).unwrap();
        second.read_to_string(&mut after).unwrap();
        assert_eq!((before.as_str(), after.as_str()), ("one\n", "two\n"));
    }

    #[test]
    fn a_sink_that_stops_holds_nobody_up_and_drops_are_counted() {
        let (reader, writer) = io::pipe().unwrap();
        let lines = Lines::start("test", writer, Counts::default()).unwrap();
        // More than the pipe and the queue hold together.
        for _ in 0..2 * QUEUE {
            lines.send(vec![b'x'; 512]);
        }
        assert!(!lines.flush(Duration::from_millis(10)));
        assert!(lines.dropped() > 0);
        drop(reader);
        assert!(lines.flush(Duration::from_secs(10)), "the rest was refused, and that is counted");
    }
}
