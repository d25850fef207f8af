//! What a header, parameter or cookie must be.

use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use toml::Spanned;

use crate::config::model::ValuePattern;
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{codes, diagnostic::Diagnostic, raw};

const FORMS: &str = "write `\"text\"`, or one of `{ exact = \"text\" }`, `{ prefix = \"text\" }`, \
                     `{ regex = \"text\" }` and `{ present = true }`";

const SYNTAX: &str = "the syntax is that of Rust's `regex`, which has no look-around and no back-references";

/// A compiled expression is at most this large, in bytes: there may be thousands.
pub(super) const MAX_REGEX: usize = 1024 * 1024;

/// The pattern of the header, parameter or cookie of that name.
pub(super) fn value_pattern(
    scope: &mut Scope,
    lost: &Lost,
    name: &str,
    field: Spanned<raw::ValuePattern>,
) -> Option<ValuePattern> {
    let span = field.span();
    let table = match field.into_inner() {
        raw::ValuePattern::Exact(text) => return Some(ValuePattern::Exact(text)),
        raw::ValuePattern::Table(table) => table,
    };
    let raw::PatternTable { exact, prefix, regex, present } = table;
    let refused = |message: &str| Diagnostic::error(codes::BAD_VALUE_PATTERN, message).with_help(FORMS);
    match (exact, prefix, regex, present) {
        (Some(text), None, None, None) => Some(ValuePattern::Exact(text.into_inner())),
        (None, Some(text), None, None) => Some(ValuePattern::Prefix(text.into_inner())),
        (None, None, Some(text), None) => compiled(scope, text.span(), text.get_ref()),
        (None, None, None, Some(word)) => {
            if *word.get_ref() {
                return Some(ValuePattern::Present);
            }
            scope.report(word.span(), refused("`present = false` is not a pattern"));
            None
        }
        (None, None, None, None) => {
            if !lost.has(name) {
                scope.report(span, refused("the pattern is empty"));
            }
            None
        }
        _ => {
            scope.report(span, refused("the pattern says more than one thing"));
            None
        }
    }
}

fn compiled(scope: &mut Scope, span: Range<usize>, text: &str) -> Option<ValuePattern> {
    let regex = RegexBuilder::new(text).size_limit(MAX_REGEX).build().map_err(|error| bad_regex(&error));
    scope.keep(span, regex).map(|regex: Regex| ValuePattern::Regex(Arc::new(regex)))
}

/// Why an expression is refused.
pub(super) fn bad_regex(error: &regex::Error) -> Diagnostic {
    let (message, help) = match error {
        regex::Error::CompiledTooBig(_) => {
            ("the expression is too large when compiled".to_owned(), "repeat less, or match a shorter text")
        }
        // The message draws the expression; its last line has the reason.
        error => {
            let told = error.to_string();
            let reason = told.lines().last().unwrap_or_default().trim();
            (reason.strip_prefix("error: ").unwrap_or(reason).to_owned(), SYNTAX)
        }
    };
    Diagnostic::error(codes::BAD_REGEX, message).with_help(help)
}
