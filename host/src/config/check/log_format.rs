//! `format` and `fields` of the access log.

use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::LogFormat;
use crate::config::scope::Scope;
use crate::config::{codes, scalar, template};
use crate::log_field::LogField;

/// As Apache and nginx write them.
const COMBINED: &str = "{client} - - [{time-common}] \"{method} {target} {protocol}\" {status} {response-bytes} \
                        \"{referer}\" \"{user-agent}\"";
const COMMON: &str =
    "{client} - - [{time-common}] \"{method} {target} {protocol}\" {status} {response-bytes}";

/// The words of `format`.
#[derive(Clone, Copy)]
enum Word {
    Json,
    Text(&'static str),
}

const WORDS: [(&str, Word); 3] =
    [("json", Word::Json), ("combined", Word::Text(COMBINED)), ("common", Word::Text(COMMON))];

pub(super) fn log_format(
    scope: &mut Scope,
    format: Option<Spanned<String>>,
    fields: Option<Spanned<Vec<Spanned<String>>>>,
) -> LogFormat {
    let format = scope.value(format, LogFormat::Json, |text| self::format(text));
    let Some(fields) = fields else { return format };
    if format != LogFormat::Json {
        let found = Diagnostic::error(codes::CONTRADICTION, "`fields` is for the format `\"json\"`");
        scope.report(fields.span(), found.with_help("leave it out: a text format names its fields itself"));
        return format;
    }
    if fields.get_ref().is_empty() {
        let found = Diagnostic::error(codes::EMPTY_VALUE, "`fields` is an empty list");
        scope.report(fields.span(), found.with_help("leave it out for all fields"));
    }
    let mut chosen = Vec::new();
    for field in scope.entries(fields.into_inner(), |text| scalar::word(text, &LogField::NAMES)) {
        if !chosen.contains(&field) {
            chosen.push(field);
        }
    }
    LogFormat::JsonFields(chosen)
}

/// A word, or a text with fields in it.
fn format(text: &str) -> Result<LogFormat, Diagnostic> {
    if text.contains('{') {
        if text.chars().any(char::is_control) {
            let found = Diagnostic::error(codes::BAD_TEMPLATE, "the format has control characters");
            return Err(found.with_help("a line of the log is one line: leave tabs and line feeds out"));
        }
        return template::braces(text, &LogField::NAMES).map(LogFormat::Text);
    }
    match scalar::word(text, &WORDS)? {
        Word::Json => Ok(LogFormat::Json),
        Word::Text(text) => template::braces(text, &LogField::NAMES).map(LogFormat::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_texts() {
        assert_eq!(format("json"), Ok(LogFormat::Json));
        for text in ["common", "combined", "{time} {status}", "{{}} {host}"] {
            assert!(matches!(format(text), Ok(LogFormat::Text(_))), "{text}");
        }
        for (text, message) in [
            ("xml", "unknown word `xml`"),
            ("{stauts}", "unknown variable `stauts`"),
            ("{status}\n", "the format has control characters"),
        ] {
            assert_eq!(format(text).unwrap_err().message, message);
        }
    }
}
