//! From the text of a file to its tree, in which every key and value has its place.

use std::sync::Arc;

use toml::de::DeTable;

use super::codes;
use super::diagnostic::{Diagnostic, Place, SourceFile};

/// The tree of a file.
///
/// # Errors
/// The text is not TOML. One mistake only: what follows it can't be told from its consequences.
pub(crate) fn parse(file: &Arc<SourceFile>) -> Result<DeTable<'_>, Diagnostic> {
    DeTable::parse(&file.text).map(toml::Spanned::into_inner).map_err(|error| refused(file, &error))
}

/// What the parser says where it took a text without quotes for something else.
const TEXT_WITHOUT_QUOTES: &[&str] = &[
    "string values must be quoted",
    "invalid float",
    "invalid integer",
    "invalid datetime",
    "invalid boolean",
];

fn refused(file: &Arc<SourceFile>, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let place = Place { file: file.clone(), start: span.start, end: span.end };
    let diagnostic = Diagnostic::error(codes::SYNTAX, error.message()).at(place);
    match error.message() {
        "duplicate key" => diagnostic.with_help("a table or key is written once: put the two together"),
        message if TEXT_WITHOUT_QUOTES.iter().any(|start| message.starts_with(start)) => {
            diagnostic.with_help("text is put in quotes: `key = \"text\"`")
        }
        _ => diagnostic,
    }
}
