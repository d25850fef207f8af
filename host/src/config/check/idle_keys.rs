//! Keys of a route that say how its upstream is asked, on a route that asks none. Must not know what they mean.

use std::ops::Range;

use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::Action;
use crate::config::scope::Scope;
use crate::config::{codes, raw};

/// Which of them a route has, with their places.
pub(super) struct Keys(Vec<Key>);

struct Key {
    name: &'static str,
    span: Range<usize>,
    /// A redirect goes where they lead.
    redirects: bool,
}

impl Keys {
    pub(super) fn of(route: &raw::Route) -> Self {
        let raw::RouteTimeouts { connect, read, write, total } = &route.timeouts;
        let time = [connect, read, write, total].into_iter().flatten().next();
        let raw::PathEdits { strip_prefix, rewrite, add_prefix } = &route.path;
        let path = rewrite.as_ref().map(Spanned::span);
        let path = path.or_else(|| strip_prefix.as_ref().or(add_prefix.as_ref()).map(Spanned::span));
        let written = [
            ("timeouts", time.map(Spanned::span), false),
            ("mirror", route.mirror.as_ref().map(Spanned::span), false),
            ("grpc-web", route.grpc_web.as_ref().map(Spanned::span), false),
            ("sticky", route.sticky.as_ref().map(Spanned::span), false),
            ("host", route.host.as_ref().map(Spanned::span), false),
            ("request-headers", first(&route.request_headers), false),
            ("path", path, true),
            ("query", first(&route.query), true),
        ];
        let keys = written.into_iter();
        Self(keys.filter_map(|(name, span, redirects)| Some(Key { name, span: span?, redirects })).collect())
    }

    /// For a route without plugins: those could choose an upstream.
    pub(super) fn report(self, scope: &mut Scope, action: &Action) {
        let (does, is_redirect) = match action {
            Action::Upstream(_) | Action::Split(_) => return,
            Action::Redirect(_) => ("redirects", true),
            Action::Respond(_) => ("responds", false),
        };
        for Key { name, span, redirects } in self.0 {
            if !(is_redirect && redirects) {
                let message = format!("`{name}` has no effect: the route {does} and asks no upstream");
                scope.report(span, Diagnostic::warning(codes::IDLE_KEY, message).with_help("leave it out"));
            }
        }
    }
}

/// The place of the first change.
fn first(edits: &raw::FieldEdits) -> Option<Range<usize>> {
    let names = edits.set.keys().chain(edits.append.keys()).chain(edits.remove.iter().flatten());
    names.map(Spanned::span).min_by_key(|span| span.start)
}
