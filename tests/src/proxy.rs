//! The proxy under test: the real binary, from ready to its clean end.

use std::net::SocketAddr;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Ask, Connection, ask, get};
use crate::message::Response;
use crate::metrics::Metrics;
use crate::process::{Finished, Process, wait_for_line};
use crate::wait::{wait_for, wait_for_value};

/// How long the end may take once it was asked for, with nothing in flight. Less than the default of `server.grace`:
/// what never ends is seen.
const CLEAN_EXIT: Duration = Duration::from_secs(9);

/// How long a start may take: it compiles its plugins, with a compiler that is not optimised.
const START: Duration = Duration::from_secs(120);

/// Lines of the proxy's log that a failed test shows.
const LAST_LINES: usize = 30;

/// A running proxy. Asked to end when it is dropped, and the test fails if it doesn't end well.
#[derive(Debug)]
pub struct Proxy {
    /// `None` once it was ended.
    process: Option<Process>,
    address: SocketAddr,
    admin: Option<SocketAddr>,
    directory: TempDir,
}

impl Proxy {
    /// Starts the binary and waits until it is ready: by its admin address, or else until it listens.
    ///
    /// # Panics
    /// It ends, or is not ready in time.
    pub fn start(
        arguments: &[&str],
        directory: TempDir,
        address: SocketAddr,
        admin: Option<SocketAddr>,
    ) -> Self {
        Self::of(Process::start(arguments, directory.path()), directory, address, admin)
    }

    /// The proxy of a process that was just started, once it is ready.
    pub(crate) fn of(
        mut process: Process,
        directory: TempDir,
        address: SocketAddr,
        admin: Option<SocketAddr>,
    ) -> Self {
        let ready = || match admin {
            // A start tries its addresses before it serves them, and closes what came to them meanwhile.
            Some(admin) => Connection::try_open(admin)
                .and_then(|mut connection| connection.try_ask(&get("/readyz")))
                .is_ok_and(|response| response.status == 200),
            None => Connection::try_open(address).is_ok(),
        };
        wait_for(START, "the proxy to get ready", || {
            if let Some(status) = process.exit() {
                panic!("the proxy ended at its start: {status}\n{process:?}\n{}", process.stdout());
            }
            ready()
        });
        Self { process: Some(process), address, admin, directory }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Sends a request on a connection of its own.
    pub fn ask(&self, ask: &Ask) -> Response {
        ask.send(self.address)
    }

    /// GETs a path of `a.test`.
    pub fn get(&self, target: &str) -> Response {
        self.ask(&get(target))
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// # Panics
    /// There is none.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.expect("an admin address")
    }

    /// GETs a path of the admin address.
    ///
    /// # Panics
    /// There is none.
    pub fn admin(&self, path: &str) -> Response {
        get(path).host("localhost").send(self.admin.expect("an admin address"))
    }

    /// Has the configuration read again, and returns the answer.
    ///
    /// # Panics
    /// There is no admin address.
    pub fn reload(&self) -> Response {
        ask("POST", "/reload").host("localhost").send(self.admin.expect("an admin address"))
    }

    /// Rewrites the configuration file, as an editor does: a new file in the place of the old one.
    ///
    /// # Panics
    /// It can't be read or written.
    pub fn edit_config(&self, edit: impl FnOnce(&str) -> String) {
        let path = self.directory().join("edgewright.toml");
        let text = std::fs::read_to_string(&path).expect("a configuration");
        self.put("edgewright.toml", edit(&text));
    }

    /// Puts a file in its place below the directory, all at once.
    ///
    /// # Panics
    /// It can't be written.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let new = self.directory().join(format!("{path}.new"));
        std::fs::write(&new, content).expect("a file");
        std::fs::rename(&new, self.directory().join(path)).expect("a file");
    }

    /// Memory of the process that is resident, in KiB.
    ///
    /// # Panics
    /// The system does not tell.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Waits until no request is in flight, and returns the metrics then. A client has its response a moment before
    /// the proxy is done with the request: what it counts, writes to the log and keeps for later comes last.
    pub fn metrics_at_rest(&self) -> Metrics {
        wait_for_value("no request to be in flight", || {
            let metrics = self.metrics();
            (metrics.sum("edgewright_requests_in_flight", &[]) < 1.0).then_some(metrics)
        })
    }

    /// What `/status` says once no request is in flight.
    pub fn status_at_rest(&self) -> Value {
        self.metrics_at_rest();
        self.status()
    }

    pub fn metrics(&self) -> Metrics {
        Metrics::parse(&self.admin("/metrics").expect_status(200).text())
    }

    /// What `/status` says.
    ///
    /// # Panics
    /// It is not JSON.
    pub fn status(&self) -> Value {
        serde_json::from_slice(&self.admin("/status").expect_status(200).body).expect("JSON")
    }

    pub fn stdout(&self) -> String {
        self.process.as_ref().map(Process::stdout).unwrap_or_default()
    }

    pub fn stderr(&self) -> String {
        self.process.as_ref().map(Process::stderr).unwrap_or_default()
    }

    /// See [`Process::fill_stderr`].
    pub(crate) fn fill_stderr(&mut self) {
        self.process.as_mut().expect("it runs").fill_stderr();
    }

    pub fn id(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    /// Waits for a line of the log that has this text.
    pub fn wait_for_log(&self, text: &str) -> String {
        wait_for_line(|| self.stderr(), text)
    }

    /// The lines of the access log on stdout, once there are `count`, oldest first.
    ///
    /// # Panics
    /// There are fewer or more, or one is not a JSON object.
    pub fn access_log(&self, count: usize) -> Vec<Value> {
        let lines = wait_for_value(&format!("{count} lines of the access log"), || {
            let lines: Vec<String> =
                self.stdout().lines().filter(|line| line.starts_with('{')).map(str::to_owned).collect();
            (lines.len() >= count).then_some(lines)
        });
        assert_eq!(lines.len(), count, "{lines:#?}");
        lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    pub fn signal(&self, signal: Signal) {
        if let Some(process) = &self.process {
            process.signal(signal);
        }
    }

    /// Asks it to end and waits until it has, however it ends.
    ///
    /// # Panics
    /// It still runs after `time`.
    pub fn terminate(self, time: Duration) -> Finished {
        self.signal(Signal::TERM);
        self.end(time)
    }

    /// Waits for an end that was asked for.
    ///
    /// # Panics
    /// It still runs after `time`.
    pub fn end(mut self, time: Duration) -> Finished {
        let mut process = self.process.take().expect("it runs");
        process.finish(time).unwrap_or_else(|| panic!("still runs after {time:?}\n{process:?}"))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        process.signal(Signal::TERM);
        let finished = process.finish(CLEAN_EXIT);
        if std::thread::panicking() {
            // Shown with the test's own failure.
            let config = std::fs::read_to_string(self.directory.path().join("edgewright.toml"));
            let shown = config.unwrap_or_default();
            let stderr = process.stderr();
            let lines: Vec<&str> = stderr.lines().collect();
            let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n");
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("configuration:\n{shown}\nthe end of the proxy's log:\n{last}\n").as_bytes(),
            );
            return;
        }
        let Some(finished) = finished else { panic!("still runs {CLEAN_EXIT:?} after SIGTERM\n{process:?}") };
        let ended = (finished.code, finished.killed_by);
        assert_eq!(ended, (Some(0), None), "not a clean end:\n{}", finished.stderr);
        // A guest's panic may be quoted in the log; its place is not below `host`.
        let panicked =
            finished.stderr.contains("panicked at host/") || finished.stderr.contains("/registry/src/");
        assert!(!panicked, "the host panicked:\n{}", finished.stderr);
    }
}
