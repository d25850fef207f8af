//! Lines of the proxy's log, written as `log::info!("…")`. Must not know how a line is written.

use std::borrow::Cow;
use std::fmt;

use crate::host;

pub use crate::{
    __log_debug as debug, __log_error as error, __log_info as info, __log_trace as trace, __log_warn as warn,
};

/// How much a line matters: WIT `log.level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Each step.
    Trace,
    /// For the author of the plugin.
    Debug,
    /// For the one who runs the proxy.
    Info,
    /// Something is wrong and the plugin went on.
    Warn,
    /// Something is wrong and the request or the configuration suffers.
    Error,
}

/// Writes one line, with the plugin's name and the request's id. The proxy cuts it at 1 KiB, escapes control
/// characters and writes at most 100 lines a second and plugin. A message without arguments is not copied.
///
/// The macros [`trace!`], [`debug!`], [`info!`], [`warn!`] and [`error!`] call it.
///
/// ```
/// use edgewright_sdk::log;
///
/// log::write(log::Level::Info, format_args!("took the key of {}", "alice"));
/// log::info!("took the key of {}", "alice");
/// ```
pub fn write(level: Level, message: fmt::Arguments<'_>) {
    let message = message.as_str().map_or_else(|| Cow::Owned(fmt::format(message)), Cow::Borrowed);
    host::log::write(level, &message);
}

/// Writes a line at level `trace`; takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_trace {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Trace, ::core::format_args!($($message)+)) };
}

/// Writes a line at level `debug`; takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_debug {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Debug, ::core::format_args!($($message)+)) };
}

/// Writes a line at level `info`; takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_info {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Info, ::core::format_args!($($message)+)) };
}

/// Writes a line at level `warn`; takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_warn {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Warn, ::core::format_args!($($message)+)) };
}

/// Writes a line at level `error`; takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_error {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Error, ::core::format_args!($($message)+)) };
}
