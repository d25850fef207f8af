//! `match` of a route, and what makes two of them the same.

use std::collections::BTreeMap;

use toml::Spanned;

use super::value_pattern::value_pattern;
use super::{condition, host, names, path};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Match, Server, ValuePattern};
use crate::config::raw::{self, OneOrMany};
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{codes, example};

/// `server`: what of a request routes do not see; nothing where that could not be told.
pub(super) fn matcher(scope: &mut Scope, lost: &Lost, server: Option<&Server>, raw: raw::Match) -> Match {
    Match {
        hosts: list(scope, "host", raw.host, host::host, |_| None),
        paths: list(scope, "path", raw.path, path::path, |_| None),
        methods: list(scope, "method", raw.method, names::method, names::refused_method),
        headers: patterns(scope, lost, raw.header, names::header, |name, pattern| {
            condition::review(server?, name, pattern)
        }),
        query: patterns(scope, lost, raw.query, names::parameter, |_, _| None),
        cookies: patterns(scope, lost, raw.cookie, names::cookie, |_, _| None),
    }
}

fn list<T>(
    scope: &mut Scope,
    key: &str,
    field: Option<Spanned<OneOrMany>>,
    check: impl Fn(&str) -> Result<T, Diagnostic>,
    warning: impl Fn(&T) -> Option<Diagnostic>,
) -> Vec<T> {
    let Some(field) = field else { return Vec::new() };
    let span = field.span();
    let items = OneOrMany::items(field);
    if items.is_empty() {
        let message = format!("`{key}` is an empty list, which no request could match");
        let example = example::quoted("match", key);
        let help = format!("leave `{key}` out to match any, or fill it: {example}");
        scope.report(span, Diagnostic::error(codes::EMPTY_VALUE, message).with_help(help));
    }
    let checked = items.into_iter().filter_map(|item| {
        let value = scope.keep(item.span(), check(item.get_ref()))?;
        warning(&value).into_iter().for_each(|found| scope.report(item.span(), found));
        Some(value)
    });
    checked.collect()
}

fn patterns<N>(
    scope: &mut Scope,
    lost: &Lost,
    table: BTreeMap<Spanned<String>, Spanned<raw::ValuePattern>>,
    check: impl Fn(&str) -> Result<N, Diagnostic>,
    warning: impl Fn(&N, &ValuePattern) -> Option<Diagnostic>,
) -> Vec<(N, ValuePattern)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let checked = entries.into_iter().filter_map(|(name, pattern)| {
        let span = name.span();
        let pattern = value_pattern(scope, lost, name.get_ref(), pattern);
        let (name, pattern) = scope.keep(span.clone(), check(name.get_ref())).zip(pattern)?;
        warning(&name, &pattern).into_iter().for_each(|found| scope.report(span.clone(), found));
        Some((name, pattern))
    });
    checked.collect()
}

/// Equal for two matchers that take the same requests for the same reasons, whatever the order in which
/// they are written.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MatchKey([Vec<String>; 6]);

impl MatchKey {
    pub(super) fn of(matcher: &Match) -> Self {
        Self([
            sorted(matcher.hosts.iter().map(|host| format!("{host:?}"))),
            sorted(matcher.paths.iter().map(|path| format!("{path:?}"))),
            sorted(matcher.methods.iter().map(ToString::to_string)),
            sorted(matcher.headers.iter().map(|(name, value)| pattern(name.as_str(), value))),
            sorted(matcher.query.iter().map(|(name, value)| pattern(name, value))),
            sorted(matcher.cookies.iter().map(|(name, value)| pattern(name, value))),
        ])
    }
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn pattern(name: &str, value: &ValuePattern) -> String {
    match value {
        ValuePattern::Regex(regex) => format!("{name:?} regex {:?}", regex.as_str()),
        other => format!("{name:?} {other:?}"),
    }
}
