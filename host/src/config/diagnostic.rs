//! A mistake with its place, and how it is told: code, file, line, column and help. Knows nothing of
//! what the mistakes are about.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A stretch of a file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<SourceFile>,
    pub start: usize,
    pub end: usize,
}

/// A file that was read, with its text, so that a message can show the line.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub path: PathBuf,
    pub text: String,
    /// Where each line starts, in bytes: thousands of mistakes each ask for their line.
    lines: Vec<usize>,
}

impl SourceFile {
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let text = text.into();
        let after_each =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
        let lines = std::iter::once(0).chain(after_each).collect();
        Self { path: path.into(), text, lines }
    }

    /// The line that has this byte, from 1, and where it starts, in bytes.
    pub(crate) fn line_of(&self, index: usize) -> (usize, usize) {
        let number = self.lines.partition_point(|start| *start <= index).max(1);
        (number, self.lines.get(number - 1).copied().unwrap_or_default())
    }
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `E0201`: stable, listed in one table.
    pub code: Code,
    /// Whether the configuration can be used in spite of it.
    pub severity: Severity,
    /// Lower case, no full stop, literals in backticks.
    pub message: String,
    /// Where; `None` for what has no place (a file that is not there, a flag).
    pub place: Option<Place>,
    /// What to do about it.
    pub help: Option<String>,
    /// A second place that the mistake is about, such as the first of two equal names.
    pub related: Option<Box<Related>>,
}

/// A second place of a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub place: Place,
    /// What is there, in a few words.
    pub label: String,
}

/// The number of a kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The configuration is refused.
    Error,
    /// Worth a look; the configuration is used.
    Warning,
}

impl Diagnostic {
    /// What makes the configuration unusable.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// What is worth a look.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self { code, severity, message, place: None, help: None, related: None }
    }

    /// The same mistake, at this place.
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into();
        self
    }

    /// The same mistake, with what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same mistake, with a second place that it is about.
    #[must_use]
    pub fn with_related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related = Some(Box::new(Related { place, label: label.into() }));
        self
    }

    /// Whether the configuration can't be used because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// `E0201` for an error, `W0404` for a warning.
    pub fn id(&self) -> String {
        match self.severity {
            Severity::Error => format!("E{:04}", self.code.0),
            Severity::Warning => format!("W{:04}", self.code.0),
        }
    }
}

impl Place {
    /// Line and column of its start, both from 1; the column counts characters.
    pub fn line_column(&self) -> (usize, usize) {
        let text = &self.file.text;
        let start = floor_boundary(text, self.start);
        let (line, line_start) = self.file.line_of(start);
        let column = text.get(line_start..start).unwrap_or_default().chars().count() + 1;
        (line, column)
    }

    /// A file as a whole.
    pub(crate) fn whole_file(path: &Path) -> Self {
        Self { file: Arc::new(SourceFile::new(path, "")), start: 0, end: 0 }
    }

    /// Whether it stands for its file as a whole and not for a stretch of it.
    pub(crate) fn is_whole_file(&self) -> bool {
        self.start == 0 && self.end == 0
    }
}

/// The last character boundary of `text` that is not after `index`.
pub(crate) fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One line: `edgewright.toml:3:1: error[E0201]: unknown key …`, for logs.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            let (line, column) = place.line_column();
            write!(f, "{}:{line}:{column}: ", place.file.path.display())?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.id(), self.message)
    }
}

/// The form of `check --json`: `code`, `severity`, `message`, `file`, `line`, `column`, `help`; what is
/// not there is `null`.
impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let position = self.place.as_ref().map(Place::line_column);
        let mut form = serializer.serialize_struct("Diagnostic", 7)?;
        form.serialize_field("code", &self.id())?;
        form.serialize_field("severity", &self.severity.to_string())?;
        form.serialize_field("message", &self.message)?;
        form.serialize_field("file", &self.place.as_ref().map(|p| p.file.path.to_string_lossy()))?;
        form.serialize_field("line", &position.map(|(line, _)| line))?;
        form.serialize_field("column", &position.map(|(_, column)| column))?;
        form.serialize_field("help", &self.help)?;
        form.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, start: usize) -> Place {
        Place { file: Arc::new(SourceFile::new("edgewright.toml", text)), start, end: start }
    }

    fn check(text: &str, start: usize, expected: (usize, usize)) {
        assert_eq!(place(text, start).line_column(), expected, "{text:?} at {start}");
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        check("", 0, (1, 1));
        check("a\nbc", 2, (2, 1));
        check("a\nbc", 3, (2, 2));
        check("é = 1", 3, (1, 3));
        check("é = 1", 1, (1, 1));
        check("a\r\nb", 3, (2, 1));
        check("a", 99, (1, 2));
    }

    #[test]
    fn the_json_form_has_a_place_or_nulls() {
        let found = Diagnostic::error(Code(201), "unknown key `x`").at(place("\nx = 1", 1)).with_help("no");
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "code": "E0201", "severity": "error", "message": "unknown key `x`",
                "file": "edgewright.toml", "line": 2, "column": 1, "help": "no",
            })
        );
        let json = serde_json::to_value(Diagnostic::warning(Code(1), "m")).unwrap();
        assert_eq!(json["code"], "W0001");
        assert!(json["file"].is_null() && json["line"].is_null() && json["help"].is_null());
    }
}
