//! Compiling in a child process: what the compiler takes of memory goes with it, and what makes it crash does
//! not make the proxy crash. It is bounded in memory and time, and ends with its parent. Both ends of the pipe
//! are here. Must not know where components come from.

use std::io::{self, Read as _, Write as _};
use std::num::NonZeroUsize;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal};

use super::translate;
use crate::plugin::engine;
use crate::plugin::error::LoadReason;

/// The first argument of a process that is to compile and nothing else.
pub const COMPILE_ARGUMENT: &str = "__compile";

/// A child that takes longer is killed. What it may compute is bounded below; this is for one that stands still, and
/// leaves those time that are kept from the CPU by traffic.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Bytes of addresses that a child may have. The largest language runtimes need 1.3 GiB: JavaScript, 10 MiB.
const ADDRESSES: u64 = 2 << 30;

/// Seconds of CPU time that a child may use, over all of its threads.
const CPU_SECONDS: u64 = 60;

/// What a child ends with that says why it does not compile. Any other end was not its own choice.
const REFUSED: u8 = 1;

/// Threads of a child, each with a stack and memory of its own: more would make its need depend on the machine.
const THREADS: usize = 4;

/// Bytes of a child's message that are kept.
const MESSAGE: u64 = 4 * 1024;

/// The same executable, even if the file was replaced since.
const EXECUTABLE: &str = "/proc/self/exe";

/// Takes a component from standard input and writes its machine code to standard output. The whole life of a
/// process whose first argument is [`COMPILE_ARGUMENT`]: call it before anything else is set up.
pub fn compile_child() -> ExitCode {
    // Where one of these is refused, it compiles all the same. The signal comes when the *thread* that spawned
    // this process ends: `compile` spawns and waits in one.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    bound(Resource::As, ADDRESSES);
    bound(Resource::Cpu, CPU_SECONDS);
    // Traffic goes first.
    let _ = rustix::process::nice(10);
    match pipe_through() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = io::stderr().write_all(message.as_bytes());
            ExitCode::from(REFUSED)
        }
    }
}

/// Lowers a limit of this process. One that is lower already stays.
fn bound(resource: Resource, limit: u64) {
    let limit = rustix::process::getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
    let _ = rustix::process::setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
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

/// Has a child compile a component. Spawns it and waits for it in this thread, with which the child would end.
pub(super) fn compile(bytes: &[u8]) -> Result<Vec<u8>, LoadReason> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS);
    let child = Command::new(EXECUTABLE)
        .arg(COMPILE_ARGUMENT)
        .env("RAYON_NUM_THREADS", threads.to_string())
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
    Err(failed(status, String::from_utf8_lossy(&message).trim()))
}

/// Why a child has no machine code to give: because it said so, or because something ended it.
fn failed(status: ExitStatus, message: &str) -> LoadReason {
    if status.code() == Some(i32::from(REFUSED)) && !message.is_empty() {
        return LoadReason::Compile(message.to_owned());
    }
    let said = if message.is_empty() { String::new() } else { format!("; it said: {message}") };
    LoadReason::CompilerStopped(format!(
        "{status}; it may take {} GiB of memory and {CPU_SECONDS} s of CPU time{said}",
        ADDRESSES >> 30
    ))
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn ends_of_the_child() {
        fn check(wait_status: i32, message: &str, expected: &str) {
            assert_eq!(failed(ExitStatus::from_raw(wait_status), message).to_string(), expected);
        }
        check(1 << 8, "type mismatch", "does not compile: type mismatch");
        let limits = "it may take 2 GiB of memory and 60 s of CPU time";
        check(1 << 8, "", &format!("the compiler was stopped: exit status: 1; {limits}"));
        let said = "memory allocation of 64 bytes failed";
        check(6, said, &format!("the compiler was stopped: signal: 6 (SIGABRT); {limits}; it said: {said}"));
        check(24, "", &format!("the compiler was stopped: signal: 24 (SIGXCPU); {limits}"));
    }
}
