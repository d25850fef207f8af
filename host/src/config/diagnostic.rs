//! A mistake with its place, and how it is shown: code, file, line, column and help. Knows nothing of
//! what the mistakes are about.

use std::path::PathBuf;
use std::sync::Arc;

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
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `E0102`: stable, listed in one table.
    pub code: Code,
    /// Lower case, no full stop, literals in backticks.
    pub message: String,
    /// Where; `None` for what has no place (a file that is not there).
    pub place: Option<Place>,
    /// What to do about it.
    pub help: Option<String>,
}

/// The number of a kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u16);
