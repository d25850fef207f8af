//! One file while it is checked: turns spans into places and collects what is found.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::diagnostic::{Diagnostic, Place, SourceFile};
use super::recover::Lost;
use super::{codes, example};

/// A file and its mistakes so far.
#[derive(Debug)]
pub(crate) struct Scope {
    file: Arc<SourceFile>,
    found: Vec<Diagnostic>,
    errors: usize,
}

impl Scope {
    pub(crate) fn new(file: Arc<SourceFile>) -> Self {
        Self { file, found: Vec::new(), errors: 0 }
    }

    /// The mistakes so far.
    pub(crate) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        Place { file: self.file.clone(), start: span.start, end: span.end }
    }

    /// Tells a mistake, at this place.
    pub(crate) fn report(&mut self, span: Range<usize>, diagnostic: Diagnostic) {
        let place = self.place(span);
        self.errors += usize::from(diagnostic.is_error());
        self.found.push(diagnostic.at(place));
    }

    /// Tells that a key of a section (a word of `example`) has no default and is not there, unless it
    /// was there and was refused.
    pub(crate) fn missing(
        &mut self,
        span: Range<usize>,
        lost: &Lost,
        (section, key): (&str, &str),
        message: impl Into<String>,
    ) {
        if !lost.has(key) {
            let help = format!("for example {}", example::quoted(section, key));
            self.report(span, Diagnostic::error(codes::MISSING, message).with_help(help));
        }
    }

    /// How many errors were told so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Tells what was found elsewhere (in a manifest).
    pub(crate) fn adopt(&mut self, found: Vec<Diagnostic>) {
        self.errors += found.iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.found.extend(found);
    }

    /// The value, or nothing and a mistake at this place.
    pub(crate) fn keep<T>(&mut self, span: Range<usize>, checked: Result<T, Diagnostic>) -> Option<T> {
        checked.map_err(|diagnostic| self.report(span, diagnostic)).ok()
    }

    /// The checked value of a key; the default where it is not there, or wrong and told.
    pub(crate) fn value<R, T>(
        &mut self,
        field: Option<Spanned<R>>,
        default: T,
        check: impl FnOnce(&R) -> Result<T, Diagnostic>,
    ) -> T {
        let Some(field) = field else { return default };
        self.keep(field.span(), check(field.get_ref())).unwrap_or(default)
    }

    /// The checked entries of a list, without the wrong ones.
    pub(crate) fn entries<R, T>(
        &mut self,
        list: Vec<Spanned<R>>,
        check: impl Fn(&R) -> Result<T, Diagnostic>,
    ) -> Vec<T> {
        list.into_iter().filter_map(|item| self.keep(item.span(), check(item.get_ref()))).collect()
    }
}
