//! `upstream` where it is several, `sticky` and `mirror`.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;

use super::action::{Known, upstream};
use super::names;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Action, Mirror, Share, Split, SplitKey};
use crate::config::raw;
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{codes, defaults, scalar};
use crate::ids::UpstreamId;

pub(super) fn targets(
    scope: &mut Scope,
    known: &Known<'_>,
    lost: &Lost,
    field: Spanned<raw::Targets>,
    sticky: Option<Spanned<raw::SplitKey>>,
) -> Option<Action> {
    let span = field.span();
    let sticky_span = sticky.as_ref().map(Spanned::span);
    let sticky = sticky.and_then(|field| self::sticky(scope, lost, field));
    match field.into_inner() {
        raw::Targets::One(name) => {
            if let Some(span) = sticky_span {
                let found = Diagnostic::error(codes::CONTRADICTION, "`sticky` is for several upstreams");
                let help = "leave it out, or list the upstreams: `[{ name = \"a\", weight = 90 }, …]`";
                scope.report(span, found.with_help(help));
            }
            upstream(scope, known, &Spanned::new(span, name)).map(Action::Upstream)
        }
        raw::Targets::Several(list) => {
            let shares = shares(scope, known, lost, span, list)?;
            Some(Action::Split(Split { shares, sticky }))
        }
    }
}

fn shares(
    scope: &mut Scope,
    known: &Known<'_>,
    lost: &Lost,
    span: Range<usize>,
    list: Vec<Spanned<raw::Share>>,
) -> Option<Vec<Share>> {
    let before = scope.errors();
    if list.is_empty() {
        let message = "`upstream` is an empty list, so that no request could go anywhere";
        let found = Diagnostic::error(codes::EMPTY_VALUE, message);
        scope.report(span.clone(), found.with_help("for example `upstream = \"api\"`"));
    }
    let mut first: HashMap<UpstreamId, Range<usize>> = HashMap::new();
    let mut shares = Vec::with_capacity(list.len());
    for entry in list {
        let entry_span = entry.span();
        let raw::Share { name, weight } = entry.into_inner();
        let Some(name) = name else {
            scope.missing(entry_span, lost, ("share", "name"), "the upstream has no `name`");
            continue;
        };
        let weight = match weight {
            Some(weight) => scope.value(Some(weight), 1, |number| {
                scalar::count(*number, defaults::SHARE).map(|weight| u32::try_from(weight).unwrap_or(1))
            }),
            None => {
                scope.missing(entry_span, lost, ("share", "weight"), "the upstream has no `weight`");
                1
            }
        };
        let name_span = name.span();
        let Some(upstream) = upstream(scope, known, &name) else { continue };
        if let Some(first) = first.insert(upstream, name_span.clone())
            && scope.errors() == before
        {
            let first = scope.place(first);
            let message = format!("upstream `{}` is there twice", name.get_ref());
            let found = Diagnostic::error(codes::CONTRADICTION, message)
                .with_help("add the weights up")
                .with_related(first, "first here");
            scope.report(name_span, found);
        }
        shares.push(Share { upstream, weight });
    }
    if scope.errors() == before && shares.iter().all(|share| share.weight == 0) {
        let found = Diagnostic::error(codes::CONTRADICTION, "no upstream has a weight above `0`");
        scope.report(span, found.with_help("weights are shares: `90` and `10`"));
    }
    (scope.errors() == before).then_some(shares)
}

fn sticky(scope: &mut Scope, lost: &Lost, field: Spanned<raw::SplitKey>) -> Option<SplitKey> {
    let span = field.span();
    let table = match field.into_inner() {
        raw::SplitKey::Word(word) => {
            let known = scalar::word(&word, &[("client-address", ())]).map(|()| SplitKey::ClientAddress);
            return scope.keep(span, known);
        }
        raw::SplitKey::Table(table) => table,
    };
    match (table.header, table.cookie) {
        (Some(name), None) => scope.keep(name.span(), names::header(name.get_ref()).map(SplitKey::Header)),
        (None, Some(name)) => scope.keep(name.span(), names::cookie(name.get_ref()).map(SplitKey::Cookie)),
        (None, None) if lost.has("header") || lost.has("cookie") => None,
        _ => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`sticky` is one thing of a request");
            let help = "write `\"client-address\"`, `{ header = \"x-user\" }` or `{ cookie = \"session\" }`";
            scope.report(span, found.with_help(help));
            None
        }
    }
}

pub(super) fn mirror(
    scope: &mut Scope,
    known: &Known<'_>,
    lost: &Lost,
    field: Spanned<raw::Mirror>,
) -> Option<Mirror> {
    let span = field.span();
    let raw::Mirror { upstream: name, share, max_body, timeout, concurrency } = field.into_inner();
    let share = scope.value(share, defaults::MIRROR_SHARE, scalar::percent);
    let max_body =
        scope.value(max_body, defaults::MIRROR_BODY, |size| scalar::size(size, defaults::MIRROR_BODIES));
    let timeout = scope.value(timeout, defaults::MIRROR_TIME, |time| scalar::duration(time, defaults::TIME));
    let concurrency = scope
        .value(concurrency, defaults::MIRROR_CONCURRENCY, |number| scalar::count(*number, defaults::MIRRORS));
    let Some(name) = name else {
        scope.missing(span, lost, ("mirror", "upstream"), "the mirror has no `upstream`");
        return None;
    };
    let upstream = upstream(scope, known, &name)?;
    Some(Mirror { upstream, share, max_body, timeout, concurrency })
}
