//! Every mistake of a table in one go: serde stops at the first, so the key it stops at is told, taken out
//! of the tree, and the table is read again. Knows no key by name.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Error, ValueDeserializer};

use super::codes;
use super::diagnostic::Diagnostic;
use super::scope::Scope;
use super::{example, suggest};

/// A table, and what of it could not be read.
#[derive(Debug, Default)]
pub(crate) struct Section<T> {
    pub(crate) value: T,
    pub(crate) lost: Lost,
}

/// Keys that were there and were refused: that they are missing is no mistake of its own.
#[derive(Debug, Default)]
pub(crate) struct Lost(Vec<String>);

impl Lost {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|lost| lost == key)
    }

    pub(crate) fn add(&mut self, key: impl Into<String>) {
        self.0.push(key.into());
    }
}

/// Mistakes of one table that are told: each costs a reading of the table.
const MOST: usize = 100;

/// Reads a table; nothing if it is none, or hopeless.
pub(crate) fn section<T: DeserializeOwned>(
    scope: &mut Scope,
    key: &str,
    mut tree: Spanned<DeValue<'_>>,
) -> Option<Section<T>> {
    if tree.get_ref().is_array() {
        // serde would read it as the table's values without their keys.
        let found =
            Diagnostic::error(codes::WRONG_TYPE, format!("expected a table for `{key}`, found a list"));
        let help = example::of("", key).map(|example| format!("for example `{example}`"));
        scope.report(tree.span(), help.into_iter().fold(found, Diagnostic::with_help));
        return None;
    }
    let mut lost = Lost::default();
    for _ in 0..MOST {
        let error = match T::deserialize(ValueDeserializer::from(tree.clone())) {
            Ok(value) => return Some(Section { value, lost }),
            Err(error) => error,
        };
        let span = error.span().unwrap_or_else(|| tree.span());
        let path = remove(tree.get_mut(), &span);
        let (diagnostic, meant) = explain(&error, key, path.as_deref().unwrap_or_default());
        scope.report(span, diagnostic);
        lost.0.extend(meant);
        // Nothing to take out: the tree itself is of the wrong type.
        lost.0.extend(path?);
    }
    None
}

/// Takes out the entry that is at `span`, and tells the keys that lead to it.
fn remove(tree: &mut DeValue<'_>, span: &Range<usize>) -> Option<Vec<String>> {
    match tree {
        DeValue::Table(table) => remove_from_table(table, span),
        DeValue::Array(array) => {
            if array.iter().any(|item| item.span() == *span) {
                let items = std::mem::replace(array, DeArray::new()).into_iter();
                *array = items.filter(|item| item.span() != *span).collect();
                return Some(Vec::new());
            }
            array.iter_mut().find_map(|item| remove(item.get_mut(), span))
        }
        _ => None,
    }
}

fn remove_from_table(table: &mut DeTable<'_>, span: &Range<usize>) -> Option<Vec<String>> {
    let here = table.iter().find(|(key, value)| key.span() == *span || value.span() == *span);
    if let Some(key) = here.map(|(key, _)| key.get_ref().to_string()) {
        table.remove(key.as_str());
        return Some(vec![key]);
    }
    table.iter_mut().find_map(|(key, value)| {
        let mut path = remove(value.get_mut(), span)?;
        path.insert(0, key.get_ref().to_string());
        Some(path)
    })
}

/// The mistake in our words, and the key that was meant where it is a slip of a key.
fn explain(error: &Error, section: &str, path: &[String]) -> (Diagnostic, Option<String>) {
    let message = error.message();
    let key = path.last().map_or(section, String::as_str);
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut words = quoted(rest);
        let unknown = words.next().unwrap_or_default();
        let known: Vec<&str> = words.collect();
        return unknown_key(unknown, &known);
    }
    if message.contains(" as i128, expected ") || message.contains(" as u128, expected ") {
        let found = Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is out of range"));
        return (found.with_help("whole numbers have 64 bits; put longer ones in quotes"), None);
    }
    let told = match message.split_once(", expected ") {
        // serde would take a list for a table, value by value.
        Some((found, expected)) if found.starts_with("invalid length ") => {
            format!("expected {} for `{key}`, found a list", named(expected))
        }
        Some((found, expected)) => {
            let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
            format!("expected {} for `{key}`, found {}", named(expected), named(found))
        }
        None => format!("`{key}`: {message}"),
    };
    let diagnostic = Diagnostic::error(codes::WRONG_TYPE, told);
    // Names that users choose have no example; what holds them has one.
    let parents = std::iter::once(section).chain(path.iter().map(String::as_str));
    let keys = parents.zip(path.iter().map(String::as_str)).collect::<Vec<_>>();
    let keys = keys.into_iter().rev().chain([("", section)]);
    match keys.flat_map(|(parent, key)| example::of(parent, key)).next() {
        Some(example) => (diagnostic.with_help(format!("for example `{example}`")), None),
        None => (diagnostic, None),
    }
}

/// A key that the table does not have; the second value is the key that was meant.
pub(crate) fn unknown_key(unknown: &str, known: &[&str]) -> (Diagnostic, Option<String>) {
    let mut sorted = known.to_vec();
    sorted.sort_unstable();
    let keys = match sorted.as_slice() {
        [] => "no keys go here".to_owned(),
        [key] => format!("the only key here is `{key}`"),
        keys => format!("the keys here are {}", suggest::list(keys.iter().copied())),
    };
    let diagnostic = Diagnostic::error(codes::UNKNOWN_KEY, format!("unknown key `{unknown}`"))
        .with_help(suggest::help(unknown, known.iter().copied(), &keys));
    (diagnostic, suggest::nearest(unknown, known.iter().copied()).map(str::to_owned))
}

/// serde's words for types, in ours.
fn named(word: &str) -> &str {
    match word {
        "sequence" | "a sequence" => "a list",
        "map" | "a map" => "a table",
        "i64" => "a whole number",
        "a boolean" => "`true` or `false`",
        other => other,
    }
}

/// What stands between backticks, in order.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
