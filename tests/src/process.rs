//! The binary as a process: started, listened to, and ended by its id alone.

use std::fmt;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};

use crate::component::binary;
use crate::wait::wait_for_value;

/// How long a command may take that ends by itself: it may compile plugins, with a compiler that is not optimised.
const COMMAND: Duration = Duration::from_secs(120);

/// A running binary. Killed when it is dropped.
pub struct Process {
    child: Child,
    stdout: Captured,
    stderr: Captured,
    readers: Vec<JoinHandle<()>>,
    /// Both ends of a standard error that nobody reads.
    unread: Option<(PipeReader, PipeWriter)>,
}

/// Lines of an output, growing.
#[derive(Debug, Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

/// How a process ended, and what it said.
#[derive(Debug)]
pub struct Finished {
    pub code: Option<i32>,
    /// The signal that killed it.
    pub killed_by: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// From the start, or from the signal that ended it.
    pub took: Duration,
}

impl Process {
    /// Starts the binary in a directory, with nothing of the environment that could change what it does.
    ///
    /// # Panics
    /// It can't be started.
    pub fn start(arguments: &[&str], directory: &Path) -> Self {
        Self::listen_to(spawn(Command::new(binary()), arguments, directory, Stdio::piped()))
    }

    fn listen_to(mut child: Child) -> Self {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let readers = vec![
            stdout.follow(child.stdout.take().expect("stdout is piped")),
            stderr.follow(child.stderr.take().expect("stderr is piped")),
        ];
        Self { child, stdout, stderr, readers, unread: None }
    }

    /// Starts it with a limit of descriptors that it can't raise.
    ///
    /// # Panics
    /// It can't be started.
    pub fn start_within(descriptors: u64, arguments: &[&str], directory: &Path) -> Self {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        shell.arg("-c").arg(script).arg(binary());
        Self::listen_to(spawn(shell, arguments, directory, Stdio::piped()))
    }

    /// Starts it with a standard error that nobody will read.
    ///
    /// # Panics
    /// It can't be started.
    pub fn start_unread(arguments: &[&str], directory: &Path) -> Self {
        let (reader, writer) = io::pipe().expect("a pipe");
        let stderr = writer.try_clone().expect("another descriptor").into();
        let mut child = spawn(Command::new(binary()), arguments, directory, stderr);
        let stdout = Captured::default();
        let readers = vec![stdout.follow(child.stdout.take().expect("stdout is piped"))];
        let unread = Some((reader, writer));
        Self { child, stdout, stderr: Captured::default(), readers, unread }
    }

    /// Fills the standard error that nobody reads: from now on, a write to it waits for ever.
    ///
    /// # Panics
    /// It is read, or no pipe.
    pub fn fill_stderr(&mut self) {
        let (_, writer) = self.unread.as_mut().expect("a standard error that nobody reads");
        fill(writer).expect("a pipe");
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// `None` while it runs.
    pub fn exit(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the process is ours")
    }

    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        // An error means that it is over already, which the wait behind this will see.
        let _ = kill_process(id, signal);
    }

    /// Waits for its end; `None` if it still runs after `time`.
    pub fn finish(&mut self, time: Duration) -> Option<Finished> {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.exit() {
                break status;
            }
            if start.elapsed() > time {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = start.elapsed();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        let (code, killed_by) = (status.code(), status.signal());
        Some(Finished { code, killed_by, stdout: self.stdout(), stderr: self.stderr(), took })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}\n{}", self.id(), self.stderr())
    }
}

fn spawn(mut command: Command, arguments: &[&str], directory: &Path, stderr: Stdio) -> Child {
    command
        .args(arguments)
        .current_dir(directory)
        .env_remove("RUST_LOG")
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .unwrap_or_else(|error| panic!("can't start the proxy: {error}"))
}

fn fill(pipe: &mut PipeWriter) -> io::Result<()> {
    let flags = fcntl_getfl(&*pipe)?;
    fcntl_setfl(&*pipe, flags | OFlags::NONBLOCK)?;
    // Byte by byte at last: a write of more is refused while there is room for less.
    for piece in [[b'.'; 4096].as_slice(), b"."] {
        while pipe.write(piece).is_ok() {}
    }
    fcntl_setfl(&*pipe, flags)?;
    Ok(())
}

impl Captured {
    fn follow(&self, output: impl Read + Send + 'static) -> JoinHandle<()> {
        let kept = Arc::clone(&self.0);
        let follow = move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                kept.lock().unwrap_or_else(PoisonError::into_inner).append(&mut line);
            }
        };
        Builder::new().name("output".to_owned()).spawn(follow).expect("a thread")
    }

    /// All whole lines so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Finished {
    /// Itself, if it ended with that code.
    ///
    /// # Panics
    /// It ended otherwise.
    #[must_use]
    pub fn expect_code(self, code: i32) -> Self {
        let ended = (self.code, self.killed_by);
        assert_eq!(ended, (Some(code), None), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Both outputs.
    pub fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs the binary to its end.
///
/// # Panics
/// It doesn't end.
pub fn edgewright(arguments: &[&str], directory: &Path) -> Finished {
    let mut process = Process::start(arguments, directory);
    match process.finish(COMMAND) {
        Some(finished) => finished,
        None => panic!("`edgewright {}` still runs\n{process:?}", arguments.join(" ")),
    }
}

/// Waits until an output has the text, and returns its line.
///
/// # Panics
/// It never does.
pub fn wait_for_line(output: impl Fn() -> String, text: &str) -> String {
    wait_for_value(&format!("`{text}` in the output"), || {
        output().lines().find(|line| line.contains(text)).map(str::to_owned)
    })
}
