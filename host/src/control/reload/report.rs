//! What became of a reload: its outcome, and all that was said of the files. Knows its shape as JSON, nothing
//! else.

use std::time::{Duration, SystemTime};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::config::diagnostic::Diagnostic;
use crate::config::{self, Color};

/// One reload.
#[derive(Debug, Clone)]
pub struct Report {
    pub trigger: Trigger,
    pub outcome: Outcome,
    /// The generation that serves new requests since.
    pub generation: u64,
    /// What is wrong, or where the configuration was taken, what is worth a look.
    pub diagnostics: Vec<Diagnostic>,
    pub began: SystemTime,
    pub took: Duration,
}

/// Who asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// SIGHUP.
    Signal,
    /// `POST /reload`.
    Admin,
    /// A file changed.
    Watch,
}

/// How a reload ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// New requests are served by the new generation.
    Applied,
    /// The files or the plugins have mistakes: nothing changed.
    Refused,
    /// The files are fine, but something in them can't change while the process runs: nothing changed.
    NeedsRestart,
    /// The process is ending: nothing changed.
    ShuttingDown,
    /// The host's own mistake: nothing changed.
    Failed,
}

impl Trigger {
    pub fn name(self) -> &'static str {
        match self {
            Trigger::Signal => "signal",
            Trigger::Admin => "admin",
            Trigger::Watch => "watch",
        }
    }
}

impl Outcome {
    pub const ALL: [Outcome; 5] =
        [Outcome::Applied, Outcome::Refused, Outcome::NeedsRestart, Outcome::ShuttingDown, Outcome::Failed];

    /// The word in logs, metrics and answers.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Applied => "applied",
            Outcome::Refused => "refused",
            Outcome::NeedsRestart => "needs-restart",
            Outcome::ShuttingDown => "shutting-down",
            Outcome::Failed => "failed",
        }
    }
}

/// `text` is the diagnostics as a terminal shows them.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut form = serializer.serialize_struct("Report", 7)?;
        form.serialize_field("outcome", self.outcome.name())?;
        form.serialize_field("generation", &self.generation)?;
        form.serialize_field("trigger", self.trigger.name())?;
        form.serialize_field("began", &humantime::format_rfc3339_millis(self.began).to_string())?;
        form.serialize_field("took-ms", &(self.took.as_secs_f64() * 1e3).round())?;
        form.serialize_field("diagnostics", &self.diagnostics)?;
        form.serialize_field("text", &config::render(&self.diagnostics, Color::Plain))?;
        form.end()
    }
}
