//! The proxy's own log, on standard error, written by a thread of its own so that nobody waits for whoever reads
//! it. What libraries refuse and say only here goes to whoever gives a function for it (`refusals`).

use std::io::{self, IsTerminal};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use super::lines::{Counts, Lines};
use super::refusals::{self, Hear, Refusal, Streams};

/// Environment variable with the filter, in the syntax of `tracing_subscriber::EnvFilter`.
pub const FILTER_VARIABLE: &str = "EDGEWRIGHT_LOG";

const DEFAULT_FILTER: &str =
    "info,wasmtime=warn,hickory_proto=error,hickory_resolver=error,hickory_net=error";

/// Parts of Pingora whose complaints the access log tells better, with the names that a user knows: requests
/// that failed, connections to upstreams that were closed.
const TOLD_ELSEWHERE: [&str; 2] = ["pingora_proxy", "pingora_core::connectors"];

/// The writer of the log, once it was started.
static LINES: OnceLock<Lines> = OnceLock::new();

/// Starts the log. `hear` is called for what is refused before `early_request_filter`, on the thread and in the task of
/// that connection. Later calls do nothing.
///
/// # Errors
/// The system gives no thread for its writer.
pub fn init(hear: impl Fn(Refusal<'_>) + Send + Sync + 'static) -> io::Result<()> {
    let lines = Lines::start("log", io::stderr(), Counts::default())?;
    if LINES.set(lines).is_err() {
        return Ok(());
    }
    let (filter, mistake) = filter();
    // Not `init`: that would also install a bridge of its own for the `log` crate.
    let shown = tracing_subscriber::fmt::layer()
        .with_writer(|| Line(Vec::with_capacity(256)))
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .with_filter(filter);
    let hear: Arc<Hear<'static>> = Arc::new(hear);
    let ear = Arc::clone(&hear);
    let streams = Streams(move |refusal: Refusal<'_>| ear(refusal)).with_filter(refusals::of_http2());
    let subscriber = tracing_subscriber::registry().with(shown).with(streams);
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        return Ok(());
    }
    let bridge = Bridge { hear };
    if log::set_boxed_logger(Box::new(bridge)).is_ok() {
        // Debug, not info: refusals are said at that level.
        log::set_max_level(log::LevelFilter::Debug);
    }
    // A panic, too, must not wait for whoever reads standard error.
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!("{panic}\n{backtrace}");
        flush(Duration::from_millis(100));
    }));
    if let Some(mistake) = mistake {
        tracing::warn!("`{FILTER_VARIABLE}` is not a filter and was left aside: {mistake}");
    }
    Ok(())
}

/// Waits until the log is written, at most `deadline` long. Before the process ends.
pub fn flush(deadline: Duration) {
    if let Some(lines) = LINES.get() {
        lines.flush(deadline);
    }
}

/// The filter that the environment asks for, or the default one with what is wrong with the environment's.
fn filter() -> (EnvFilter, Option<String>) {
    let default = || EnvFilter::new(DEFAULT_FILTER);
    match std::env::var(FILTER_VARIABLE) {
        // A bare word that is no level would be taken for the name of a module, and silence everything.
        Ok(text) if !text.contains([',', '=', ':', '[']) && text.parse::<LevelFilter>().is_err() => {
            (default(), Some(format!("`{text}` is none of off, error, warn, info, debug and trace")))
        }
        Ok(text) => match EnvFilter::try_new(&text) {
            Ok(filter) => (filter, None),
            Err(error) => (default(), Some(error.to_string())),
        },
        Err(_) => (default(), None),
    }
}

/// One line of the log: handed to the writer when it is complete.
struct Line(Vec<u8>);

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let (Some(lines), false) = (LINES.get(), self.0.is_empty()) {
            lines.send(std::mem::take(&mut self.0));
        }
    }
}

/// Carries records of the `log` crate (Pingora's) into `tracing`.
struct Bridge {
    hear: Arc<Hear<'static>>,
}

impl log::Log for Bridge {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn || refusals::may_tell(metadata.target())
    }

    fn log(&self, record: &log::Record<'_>) {
        if refusals::may_tell(record.target()) && refusals::hear_pingora(record, &*self.hear) {
            return;
        }
        match record.level() {
            log::Level::Error | log::Level::Warn if is_told_elsewhere(record.target()) => {
                tracing::debug!(target: "pingora", from = record.target(), "{}", record.args());
            }
            log::Level::Error => {
                tracing::error!(target: "pingora", from = record.target(), "{}", record.args());
            }
            log::Level::Warn => {
                tracing::warn!(target: "pingora", from = record.target(), "{}", record.args());
            }
            _ => {}
        }
    }

    fn flush(&self) {}
}

fn is_told_elsewhere(target: &str) -> bool {
    TOLD_ELSEWHERE
        .iter()
        .any(|part| target.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))
}
