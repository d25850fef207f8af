//! The access log: one JSON line per request, written by a thread of its own, so that a slow disk or a
//! stopped pipe never holds up a request. What can't be written is counted, never silently lost.

mod escape;
mod record;
mod writer;

pub use escape::Escaped;
pub use record::{PluginTime, Record};
pub use writer::{AccessLog, OpenFailed, Opened, Sink, register};
