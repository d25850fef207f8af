//! How a call ended when it did not return, what that is called, and the line about it in the log. Must not
//! know what becomes of the request: that is [`super::chain`]'s.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Write as _;

use wasmtime::{Trap, WasmBacktrace};

use super::exchange::Failure;
use super::limits::{Limits, Stopped};
use super::printable::printable;
use super::voice::Voice;
use crate::phase::Phase;

/// A call, or the making of an instance, that did not come to its end. The instance is not to be used again.
#[derive(Debug)]
pub(super) enum Ended {
    /// The guest trapped, or a host call ended it.
    Guest(wasmtime::Error),
    /// The guest's functions have other types than the contract's.
    Mismatch(wasmtime::Error),
    /// A fiber waited for longer than its wall time.
    Waited,
    /// A host call panicked; what it said.
    HostPanic(String),
}

impl Ended {
    /// Of what [`catch_unwind`](std::panic::catch_unwind) caught.
    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::HostPanic(text.unwrap_or_default())
    }

    /// What it counts as. `limits` are those of the instance.
    pub(super) fn failure(&self, limits: &Limits) -> Failure {
        let error = match self {
            Self::Waited => return Failure::TimeLimit,
            Self::HostPanic(_) => return Failure::HostPanic,
            Self::Mismatch(_) => return Failure::Instantiate,
            Self::Guest(error) => error,
        };
        match self.stopped() {
            Some(Stopped::TimeLimit | Stopped::SetupTime) => return Failure::TimeLimit,
            Some(Stopped::HostCallLimit) => return Failure::HostCallLimit,
            None => {}
        }
        if is_too_much(error) {
            return Failure::BadResponse;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Failure::StackLimit,
            // A guest that got no memory usually traps a moment later, on something else.
            _ if limits.memory_refused() => Failure::MemoryLimit,
            _ => Failure::Trap,
        }
    }

    /// The limit that ended it, where it was one of the host's own.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::Guest(error) => error.downcast_ref::<Stopped>().copied(),
            Self::Mismatch(_) | Self::Waited | Self::HostPanic(_) => None,
        }
    }

    /// In one line, without the backtrace.
    pub(super) fn detail(&self) -> Cow<'_, str> {
        match self {
            Self::Guest(error) | Self::Mismatch(error) => Cow::Owned(error.root_cause().to_string()),
            Self::Waited => Cow::Borrowed("it waited for longer than its wall time"),
            Self::HostPanic(text) => Cow::Owned(format!("a host call panicked: {text}")),
        }
    }

    /// The guest's functions, innermost first: `handle < on_request < main`.
    pub(super) fn backtrace(&self) -> String {
        let mut text = String::new();
        let Self::Guest(error) = self else { return text };
        let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return text };
        for frame in backtrace.frames() {
            let before = if text.is_empty() { "" } else { " < " };
            // Writing to a string does not fail.
            let _ = match frame.func_name() {
                Some(name) => write!(text, "{before}{}", plain_name(name)),
                None => write!(text, "{before}function {}", frame.func_index()),
            };
        }
        text
    }
}

/// Whether a verdict was larger than what the host takes at once. Nothing but the text tells that error from
/// others; the guest has returned, so there is no backtrace, as there would be for what a host call was given.
fn is_too_much(error: &wasmtime::Error) -> bool {
    error.downcast_ref::<WasmBacktrace>().is_none()
        && error.root_cause().to_string().starts_with("too much data is being copied")
}

/// The call that failed, or the making of an instance ahead of one.
pub(super) struct FailedCall<'a> {
    pub(super) voice: &'a Voice,
    pub(super) plugin: &'a str,
    /// None where an instance was made ahead.
    pub(super) phase: Option<Phase>,
    pub(super) request: &'a str,
    pub(super) failure: Failure,
}

impl FailedCall<'_> {
    /// Logs a call that ended early.
    pub(super) fn log_ended(&self, ended: &Ended) {
        self.log(&ended.detail(), &ended.backtrace());
    }

    /// Logs any other failure.
    pub(super) fn log(&self, detail: &str, backtrace: &str) {
        let Some(left_out) = self.voice.failure() else { return };
        tracing::error!(
            target: "plugin",
            plugin = self.plugin,
            phase = self.phase.map(Phase::name),
            reason = self.failure.name(),
            request = self.request,
            detail = %printable(detail),
            backtrace = %printable(backtrace),
            left_out,
            "plugin failed"
        );
    }
}

/// A symbol as it was written: demangled, and without the hash that rustc ends it with.
fn plain_name(symbol: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(symbol));
    match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            plain.to_owned()
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_they_were_written() {
        fn check(symbol: &str, expected: &str) {
            assert_eq!(plain_name(symbol), expected);
        }
        check("_ZN6plugin6handle17h0123456789abcdefE", "plugin::handle");
        check("_RNvCs1234_6plugin6handle", "plugin::handle");
        check("plugin::handle::h0123456789abcdef", "plugin::handle");
        check("plugin::handle", "plugin::handle");
        check("plugin::hash", "plugin::hash");
    }
}
