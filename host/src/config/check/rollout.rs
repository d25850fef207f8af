//! `rollout` of a route's plugin: another plugin in its place, for a share of the requests.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;

use super::Shelf;
use super::routes::merged;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Rollout, Sticky};
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{codes, defaults, raw, scalar};
use crate::ids::PluginId;

/// `plugin` is the one that it stands in for, and `config` what the route says of its configuration.
pub(super) fn rollout(
    scope: &mut Scope,
    shelf: &mut Shelf,
    lost: &Lost,
    plugin: PluginId,
    config: &Map<String, Value>,
    raw: Spanned<raw::Rollout>,
) -> Option<Rollout> {
    let span = raw.span();
    let raw = raw.into_inner();
    let weight = match raw.weight {
        Some(field) => percent(scope, field),
        None => {
            scope.missing(span.clone(), lost, ("rollout", "weight"), "the rollout has no `weight`");
            None
        }
    };
    let sticky = scope.value(raw.sticky, Sticky::No, sticky);
    let min_calls = scope.value(raw.min_calls, defaults::ROLLOUT_MIN_CALLS, |number| {
        scalar::count(*number, defaults::ROLLOUT_CALLS)
    });
    let max_failures = match raw.max_failures {
        Some(field) => percent(scope, field),
        None => Some(defaults::ROLLOUT_MAX_FAILURES),
    };
    let Some(name) = raw.plugin else {
        scope.missing(span, lost, ("rollout", "plugin"), "the rollout has no `plugin`");
        return None;
    };
    let candidate = shelf.take(scope, &name)?;
    if candidate == plugin {
        scope.report(name.span(), same(name.get_ref()));
        return None;
    }
    let default = shelf.plugin(candidate).map(|plugin| plugin.manifest.config.clone());
    Some(Rollout {
        plugin: candidate,
        config: merged(default.unwrap_or_default(), config.clone()),
        weight: weight?,
        sticky,
        min_calls,
        max_failures: max_failures?,
        place: Some(scope.place(name.span())),
    })
}

/// A second rollout of one route.
pub(super) fn refuse_second(scope: &mut Scope, span: Range<usize>) {
    let message = "the route has a `rollout` already";
    let help = "roll out one plugin after the other: of two, nobody could tell which one fails";
    scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
}

fn same(name: &str) -> Diagnostic {
    Diagnostic::error(codes::CONTRADICTION, format!("`{name}` is rolled out in place of itself"))
        .with_help("put the new version beside it under another name, such as `{name}-v2.wasm`")
}

fn percent(scope: &mut Scope, field: Spanned<i64>) -> Option<u8> {
    let checked = scalar::count(*field.get_ref(), defaults::PERCENT);
    scope.keep(field.span(), checked).and_then(|number| u8::try_from(number).ok())
}

fn sticky(raw: &raw::Sticky) -> Result<Sticky, Diagnostic> {
    let choice = "write `\"client-address\"`, `{ header = \"x-user\" }` or `{ cookie = \"session\" }`";
    match raw {
        raw::Sticky::Word(word) => scalar::word(word, &[("client-address", ())]).map(|()| Sticky::Client),
        raw::Sticky::Table(raw::StickyTable { header: Some(name), cookie: None }) => {
            let name = http::HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                Diagnostic::error(codes::BAD_HEADER_NAME, format!("`{name}` is not a header name"))
            })?;
            Ok(Sticky::Header(name))
        }
        raw::Sticky::Table(raw::StickyTable { header: None, cookie: Some(name) }) if !name.is_empty() => {
            Ok(Sticky::Cookie(name.clone()))
        }
        raw::Sticky::Table(_) => {
            Err(Diagnostic::error(codes::CONTRADICTION, "`sticky` is one header or one cookie")
                .with_help(choice))
        }
    }
}
