//! The access log over reloads: one writer for all generations, whose sink changes where the configuration's does.
//! Knows nothing of what is in the lines.

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Config, LogSink};
use crate::observe::access_log::{AccessLog, OpenFailed, Opened, Sink, Style};
use crate::observe::lines::Counts;

use super::log_style;

/// The access log, and where its lines go.
pub struct LogFile {
    /// Once there was one it stays: an earlier generation may still write into it.
    log: Option<AccessLog>,
    sink: Option<LogSink>,
    style: Style,
    counts: Counts,
}

/// What a configuration wants of the access log, opened as far as that can fail.
pub(super) struct Prepared {
    sink: Option<LogSink>,
    style: Style,
    opened: Option<Opened>,
}

impl LogFile {
    /// That of the first generation. `None` where it is turned off.
    ///
    /// # Errors
    /// The file can't be opened, or there is no thread for it.
    pub fn start(config: &Config, counts: Counts) -> Result<Self, OpenFailed> {
        let sink = config.access_log.as_ref().map(|log| log.sink.clone());
        let log = sink.as_ref().map(|sink| first(sink, &counts)).transpose()?;
        Ok(Self { log, sink, style: style_of(config), counts })
    }

    /// The log of a generation that logs.
    pub fn log(&self) -> Option<AccessLog> {
        self.sink.as_ref().and(self.log.as_ref()).map(|log| log.styled(self.style.clone()))
    }

    /// Opens what a configuration wants, and changes nothing yet.
    pub(super) fn prepare(&mut self, config: &Config) -> Result<Prepared, Diagnostic> {
        let sink = config.access_log.as_ref().map(|log| log.sink.clone());
        let opened = match &sink {
            Some(wanted) if self.sink.as_ref() != Some(wanted) || self.log.is_none() => {
                Some(sink_of(wanted).open().map_err(|error| unopened(&error))?)
            }
            _ => None,
        };
        Ok(Prepared { sink, style: style_of(config), opened })
    }

    /// Has the lines go where the configuration wants them from now on.
    ///
    /// # Errors
    /// There is no thread for a first access log.
    pub(super) fn switch(&mut self, prepared: Prepared) -> std::io::Result<()> {
        if let Some(opened) = prepared.opened {
            match &self.log {
                Some(log) => log.redirect(opened),
                None => self.log = Some(AccessLog::start(opened, self.counts.clone())?),
            }
        }
        self.sink = prepared.sink;
        self.style = prepared.style;
        Ok(())
    }

    /// Opens the file of the same path anew: it was renamed. Where that fails, the old one goes on.
    pub(super) fn reopen(&self) {
        let (Some(log), Some(sink @ LogSink::File(path))) = (&self.log, &self.sink) else { return };
        match sink_of(sink).open() {
            Ok(opened) => {
                log.redirect(opened);
                tracing::info!(path = %path.display(), "access log was opened anew");
            }
            Err(error) => tracing::error!(%error, "access log goes on in the old file"),
        }
    }
}

fn first(sink: &LogSink, counts: &Counts) -> Result<AccessLog, OpenFailed> {
    let sink = sink_of(sink);
    let opened = sink.open()?;
    AccessLog::start(opened, counts.clone())
        .map_err(|source| OpenFailed { path: sink.path().to_owned(), source })
}

fn style_of(config: &Config) -> Style {
    config.access_log.as_ref().map(log_style::style).unwrap_or_default()
}

fn unopened(error: &OpenFailed) -> Diagnostic {
    Diagnostic::error(codes::BAD_LOG_FILE, error.to_string())
}

fn sink_of(sink: &LogSink) -> Sink {
    match sink {
        LogSink::Stdout => Sink::Stdout,
        LogSink::Stderr => Sink::Stderr,
        LogSink::File(path) => Sink::File(path.clone()),
    }
}
