//! The top of the configuration file: takes the sections out of it one by one, each read by itself, so that
//! a mistake in one hides nothing in the others.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{self, Taken, Upstreams};
use super::diagnostic::Diagnostic;
use super::recover::{self, Lost, Section};
use super::scope::Scope;
use super::{codes, example};

/// The tables of the file.
const SECTIONS: &[&str] =
    &["server", "dns", "listeners", "upstreams", "plugins", "routes", "access-log", "admin"];

/// What of the file has not been taken yet.
pub(crate) struct Root<'t> {
    table: DeTable<'t>,
    lost: Lost,
}

/// What became of a section.
pub(crate) enum Taking<T> {
    /// Where it starts, and what is in it.
    Read(Range<usize>, Section<T>),
    /// It is not in the file.
    Absent,
    /// It is no table, which is told.
    Failed,
}

impl<'t> Root<'t> {
    pub(crate) fn new(table: DeTable<'t>) -> Self {
        Self { table, lost: Lost::default() }
    }

    /// Tells every key that is no section. A section that was meant is not missing then.
    pub(crate) fn refuse_unknown(&mut self, scope: &mut Scope) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if SECTIONS.contains(&name) {
                continue;
            }
            let (diagnostic, meant) = recover::unknown_key(name, SECTIONS);
            scope.report(key.span(), diagnostic);
            meant.into_iter().for_each(|meant| self.lost.add(meant));
        }
    }

    /// A table.
    pub(crate) fn section<T: DeserializeOwned>(&mut self, scope: &mut Scope, key: &str) -> Taking<T> {
        let Some(tree) = self.table.remove(key) else { return Taking::Absent };
        let span = tree.span();
        match recover::section(scope, key, tree) {
            Some(section) => Taking::Read(span, section),
            None => Taking::Failed,
        }
    }

    /// A table that may be left out, or be empty.
    pub(crate) fn table<T: DeserializeOwned + Default>(&mut self, scope: &mut Scope, key: &str) -> T {
        match self.section(scope, key) {
            Taking::Read(_, section) => section.value,
            Taking::Absent | Taking::Failed => T::default(),
        }
    }

    /// A list of tables, of which there must be one at least.
    pub(crate) fn list<T: DeserializeOwned>(
        &mut self,
        scope: &mut Scope,
        key: &str,
    ) -> Vec<Spanned<Section<T>>> {
        let Some(tree) = self.table.remove(key) else {
            self.missing(scope, 0..0, key);
            return Vec::new();
        };
        let span = tree.span();
        match tree.into_inner() {
            DeValue::Array(items) if items.is_empty() => {
                self.missing(scope, span, key);
                Vec::new()
            }
            DeValue::Array(items) => items
                .into_iter()
                .filter_map(|item| {
                    let span = item.span();
                    recover::section(scope, key, item).map(|section| Spanned::new(span, section))
                })
                .collect(),
            DeValue::Table(_) => {
                let message = format!("`{key}` is a list of tables");
                let found = Diagnostic::error(codes::WRONG_TYPE, message);
                scope.report(span, found.with_help(format!("write `[[{key}]]`, with two brackets")));
                Vec::new()
            }
            other => {
                scope.report(span, not_a_table(key, &other));
                Vec::new()
            }
        }
    }

    /// `[upstreams.NAME]`, in the order of the file.
    pub(crate) fn upstreams(&mut self, scope: &mut Scope, taken: &Taken, base: &Path) -> Upstreams {
        const KEY: &str = "upstreams";
        let Some(tree) = self.table.remove(KEY) else {
            if self.answers_by_itself() {
                return Upstreams::default();
            }
            self.missing(scope, 0..0, KEY);
            return if self.lost.has(KEY) { Upstreams::partial() } else { Upstreams::default() };
        };
        let span = tree.span();
        let mut table = match tree.into_inner() {
            DeValue::Table(table) => table,
            other => {
                scope.report(span, not_a_table(KEY, &other));
                return Upstreams::partial();
            }
        };
        if table.is_empty() {
            self.missing(scope, span, KEY);
        }
        let unnamed = refuse_unnamed(scope, &mut table);
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let entries = entries.into_iter().map(|(name, tree)| {
            let span = tree.span();
            let name = Spanned::new(name.span(), name.into_inner().into_owned());
            (name, span, recover::section(scope, KEY, tree))
        });
        let entries = entries.collect();
        let upstreams = check::upstreams(scope, taken, base, entries);
        if unnamed { upstreams.with_unread() } else { upstreams }
    }
}

impl Root<'_> {
    /// Whether there are routes, and none of them is meant for an upstream.
    fn answers_by_itself(&self) -> bool {
        let routes = self.table.get("routes").and_then(|routes| routes.get_ref().as_array());
        let own = |route: &Spanned<DeValue<'_>>| {
            let keys = route.get_ref().as_table();
            keys.is_some_and(|keys| keys.contains_key("redirect") || keys.contains_key("respond"))
        };
        routes.is_some_and(|routes| !routes.is_empty() && routes.iter().all(own))
    }

    /// Tells that a section is not there which must be, unless a slip of its name is.
    fn missing(&self, scope: &mut Scope, span: Range<usize>, key: &str) {
        if self.lost.has(key) {
            return;
        }
        let (message, needed) = match key {
            "listeners" => ("there is no `[[listeners]]`", "address"),
            "upstreams" => ("there is no `[upstreams.NAME]`", "peers"),
            _ => ("there is no `[[routes]]`", "upstream"),
        };
        let help = format!("add {} with {}", example::quoted("", key), example::quoted("", needed));
        scope.report(span, Diagnostic::error(codes::MISSING, message).with_help(help));
    }
}

/// Takes what belongs into an upstream out of the table of upstreams: `peers` is no name with a table there.
/// Whether there was such a thing.
fn refuse_unnamed(scope: &mut Scope, table: &mut DeTable<'_>) -> bool {
    if table.get("peers").is_none_or(|peers| peers.get_ref().is_table()) {
        return false;
    }
    if let Some((key, _)) = table.remove_entry("peers") {
        let message = "`peers` is not in the table of an upstream";
        let found = Diagnostic::error(codes::WRONG_TYPE, message);
        let help = "give the upstream a name: `[upstreams.NAME]`, with `peers` below it";
        scope.report(key.span(), found.with_help(help));
    }
    // It came along, unless it is an upstream of that name.
    let came_along = table
        .get("timeouts")
        .is_some_and(|it| it.get_ref().as_table().is_none_or(|it| !it.contains_key("peers")));
    if came_along {
        table.remove("timeouts");
    }
    true
}

fn not_a_table(key: &str, value: &DeValue<'_>) -> Diagnostic {
    let message = format!("expected tables for `{key}`, found {}", article(value));
    let help = format!("write {}", example::quoted("", key));
    Diagnostic::error(codes::WRONG_TYPE, message).with_help(help)
}

fn article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
