//! Keys of a route that say how its upstream is asked, on a route that asks none. Must not know what they mean.

use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::Action;
use crate::config::scope::Scope;
use crate::config::{codes, raw};

/// For a route without plugins: those could choose an upstream.
pub(super) fn report(
    scope: &mut Scope,
    action: &Action,
    timeouts: &raw::RouteTimeouts,
    mirror: Option<&Spanned<raw::Mirror>>,
    grpc_web: Option<&Spanned<bool>>,
) {
    let does = match action {
        Action::Upstream(_) | Action::Split(_) => return,
        Action::Redirect(_) => "redirects",
        Action::Respond(_) => "responds",
    };
    let raw::RouteTimeouts { connect, read, write, total } = timeouts;
    let time = [connect, read, write, total].into_iter().flatten().next();
    let written = [
        ("timeouts", time.map(Spanned::span)),
        ("mirror", mirror.map(Spanned::span)),
        ("grpc-web", grpc_web.map(Spanned::span)),
    ];
    for (key, span) in written {
        if let Some(span) = span {
            let message = format!("`{key}` has no effect: the route {does} and asks no upstream");
            scope.report(span, Diagnostic::warning(codes::IDLE_KEY, message).with_help("leave it out"));
        }
    }
}
