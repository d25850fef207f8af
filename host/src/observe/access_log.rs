//! The access log: one line per request, JSON or text, written by a thread of its own, so that a slow disk or a
//! stopped pipe never holds up a request. What can't be written is counted, never silently lost.

mod cell;
mod escape;
mod format;
mod record;
mod writer;

pub use escape::Escaped;
pub use format::{Format, TextPiece};
pub use record::{PluginTime, Record};
pub use writer::{AccessLog, OpenFailed, Opened, Sink, Style, register};
