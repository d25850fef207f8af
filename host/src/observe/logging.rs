//! The proxy's own log, on standard error. Also the ear for what Pingora only says in its log: requests
//! that it refused before any hook ran. Knows no access log: whoever wants those gives a function.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

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

/// Starts the log. `refused` is called with Pingora's reason for each request that it refused before
/// `early_request_filter`, on the thread and in the task of that connection. Later calls do nothing.
pub fn init(refused: impl Fn(&str) + Send + Sync + 'static) {
    let filter = EnvFilter::try_from_env(FILTER_VARIABLE).unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_span_events(FmtSpan::NONE)
        .with_target(false)
        .finish();
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        return;
    }
    let bridge = Bridge { refused: Box::new(refused) };
    if log::set_boxed_logger(Box::new(bridge)).is_ok() {
        // Debug, not info: the refusals above are said at that level.
        log::set_max_level(log::LevelFilter::Debug);
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
                // Formatting is left for the one message that is wanted: most of Pingora's debug
                // messages have no literal text in common with it.
                if let Some(text) = starts_with(record.args(), REFUSED) {
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
