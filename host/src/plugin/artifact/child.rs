//! Compiling in a child process: what the compiler takes of memory goes with it, and what makes it crash does
//! not make the proxy crash. Both ends of the pipe are here. Must not know where components come from.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::translate;
use crate::plugin::engine;
use crate::plugin::error::LoadReason;

/// The first argument of a process that is to compile and nothing else.
pub const COMPILE_ARGUMENT: &str = "__compile";

/// A child that takes longer is killed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of a child's message that are kept.
const MESSAGE: u64 = 4 * 1024;

/// The same executable, even if the file was replaced since.
const EXECUTABLE: &str = "/proc/self/exe";

/// Takes a component from standard input and writes its machine code to standard output. The whole life of a
/// process whose first argument is [`COMPILE_ARGUMENT`]: call it before anything else is set up.
pub fn compile_child() -> ExitCode {
    // Traffic goes first. Where that is refused, it compiles all the same.
    let _ = rustix::process::nice(10);
    match pipe_through() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = io::stderr().write_all(message.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn pipe_through() -> Result<(), String> {
    let engine = engine::bare().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let artefact = translate(&engine, &bytes).map_err(|reason| match reason {
        LoadReason::Compile(message) => message,
        other => other.to_string(),
    })?;
    io::stdout().write_all(&artefact).map_err(|error| error.to_string())
}

/// Has a child compile a component.
pub(super) fn compile(bytes: &[u8]) -> Result<Vec<u8>, LoadReason> {
    let child = Command::new(EXECUTABLE)
        .arg(COMPILE_ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(LoadReason::Compiler)?;
    let answer = talk(&mut child, bytes);
    // Done, or to be killed: a child is never left behind.
    if answer.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(LoadReason::Compiler)?;
    let (artefact, message) = answer?;
    if status.success() {
        return Ok(artefact);
    }
    let message = String::from_utf8_lossy(&message).trim().to_owned();
    Err(LoadReason::Compile(if message.is_empty() {
        format!("the compiler ended with {status}")
    } else {
        message
    }))
}

/// Hands the component over, and takes what the child wrote to its two outputs. All three pipes have their
/// thread: none may fill up while another is waited for.
fn talk(child: &mut Child, bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), LoadReason> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let pipes = stdin.zip(stdout).zip(stderr);
    let ((mut stdin, mut stdout), stderr) =
        pipes.ok_or_else(|| LoadReason::Compiler(io::Error::other("the child has no pipes")))?;
    thread::scope(|scope| {
        let (done, answer) = mpsc::channel();
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        // Dropping the pipe at the end of the thread tells the child that this was all. A child that goes
        // away early says why on its standard error.
        named("compile-in").spawn_scoped(scope, move || drop(stdin.write_all(bytes)))?;
        let messages = named("compile-err").spawn_scoped(scope, move || {
            let mut message = Vec::new();
            stderr.take(MESSAGE).read_to_end(&mut message).map(|_| message)
        })?;
        named("compile-out").spawn_scoped(scope, move || {
            let mut artefact = Vec::new();
            let read = stdout.read_to_end(&mut artefact).map(|_| artefact);
            // Nobody listens after a time-out.
            let _ = done.send(read);
        })?;
        match answer.recv_timeout(TIMEOUT) {
            Ok(artefact) => {
                let message = messages.join().unwrap_or_else(|_| Ok(Vec::new()));
                Ok(Some((artefact?, message?)))
            }
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the pipe was lost")),
        }
    })
    .map_err(LoadReason::Compiler)?
    .ok_or(LoadReason::CompileTimeout { seconds: TIMEOUT.as_secs() })
}
