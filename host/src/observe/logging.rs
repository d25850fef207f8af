//! The proxy's own log, on standard error, written by a thread of its own so that nobody waits for whoever reads
//! it. Also the ear for what Pingora only says in its log: requests
//! that it refused before any hook ran. Knows no access log: whoever wants those gives a function.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::lines::{Counts, Lines};

/// Environment variable with the filter, in the syntax of `tracing_subscriber::EnvFilter`.
pub const FILTER_VARIABLE: &str = "EDGEWRIGHT_LOG";

const DEFAULT_FILTER: &str =
    "info,wasmtime=warn,hickory_proto=error,hickory_resolver=error,hickory_net=error";

/// Parts of Pingora whose complaints the access log tells better, with the names that a user knows: requests
/// that failed, connections to upstreams that were closed.
const TOLD_ELSEWHERE: [&str; 2] = ["pingora_proxy", "pingora_core::connectors"];

/// What Pingora's proxy logs, at debug level, for a request that it answers with 400 by itself.
const REFUSED: &str = "Fail to proxy: ";
const REFUSED_TARGET: &str = "pingora_proxy";

/// The writer of the log, once it was started.
static LINES: OnceLock<Lines> = OnceLock::new();

/// Starts the log. `refused` is called with Pingora's reason for each request that it refused before
/// `early_request_filter`, on the thread and in the task of that connection. Later calls do nothing.
///
/// # Errors
/// The system gives no thread for its writer.
pub fn init(refused: impl Fn(&str) + Send + Sync + 'static) -> io::Result<()> {
    let lines = Lines::start("log", io::stderr(), Counts::default())?;
    if LINES.set(lines).is_err() {
        return Ok(());
    }
    let (filter, mistake) = filter();
    // Not `init`: that would also install a bridge of its own for the `log` crate.
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Line(Vec::with_capacity(256)))
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .finish();
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        return Ok(());
    }
    let bridge = Bridge { refused: Box::new(refused) };
    if log::set_boxed_logger(Box::new(bridge)).is_ok() {
        // Debug, not info: the refusals above are said at that level.
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
    refused: Box<dyn Fn(&str) + Send + Sync>,
}

impl log::Log for Bridge {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn || metadata.target() == REFUSED_TARGET
    }

    fn log(&self, record: &log::Record<'_>) {
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
            log::Level::Debug if record.target() == REFUSED_TARGET => {
                // Formatting is left for the one message that is wanted, which is not all text: most of Pingora's debug
                // messages are, or have no text in common with it.
                if record.args().as_str().is_none()
                    && let Some(text) = starts_with(record.args(), REFUSED)
                {
                    (self.refused)(text.strip_prefix(REFUSED).unwrap_or(&text));
                }
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

/// The text of `arguments`, if it starts with `prefix`. Stops formatting at the first byte that differs.
fn starts_with(arguments: &std::fmt::Arguments<'_>, prefix: &str) -> Option<String> {
    struct Matcher<'a> {
        prefix: &'a str,
        text: String,
    }
    impl std::fmt::Write for Matcher<'_> {
        fn write_str(&mut self, part: &str) -> std::fmt::Result {
            let seen = self.text.len();
            self.text.push_str(part);
            let due = self.prefix.as_bytes().get(seen..).unwrap_or_default();
            let same = due.iter().zip(part.as_bytes()).all(|(a, b)| a == b);
            if same { Ok(()) } else { Err(std::fmt::Error) }
        }
    }
    let mut matcher = Matcher { prefix, text: String::new() };
    std::fmt::Write::write_fmt(&mut matcher, *arguments).ok()?;
    (matcher.text.len() >= prefix.len()).then_some(matcher.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_message_is_formatted() {
        let check = |arguments: std::fmt::Arguments<'_>, expected: Option<&str>| {
            assert_eq!(starts_with(&arguments, REFUSED).as_deref(), expected);
        };
        check(format_args!("Fail to proxy: {}", "x"), Some("Fail to proxy: x"));
        check(format_args!("Fail to{} {}", " proxy:", "x"), Some("Fail to proxy: x"));
        check(format_args!("Fail to read: {}", "x"), None);
        check(format_args!("Fail"), None);
        check(format_args!("{}", ""), None);
    }
}
