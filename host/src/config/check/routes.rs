//! `[[routes]]`

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};
use toml::Spanned;

use super::action::{self, Known};
use super::matcher::{MatchKey, matcher};
use super::rollout::{refuse_second, rollout};
use super::{Shelf, Upstreams, edits, idle_keys, names, split};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Action, Match, PeerProtocol, PluginUse, Route, RouteTimeouts, Server};
use crate::config::recover::{Lost, Section};
use crate::config::scope::Scope;
use crate::config::suggest::Words;
use crate::config::{codes, defaults, json, raw, scalar};
use crate::ids::UpstreamId;

pub(crate) fn routes(
    scope: &mut Scope,
    raws: Vec<Spanned<Section<raw::Route>>>,
    server: Option<&Server>,
    upstreams: &Upstreams,
    shelf: &mut Shelf,
    base: &Path,
) -> Vec<Route> {
    let mut seen = Seen::default();
    let known = Known { upstreams, names: Words::new(upstreams.names()), base };
    let mut routes = Vec::with_capacity(raws.len());
    for raw in raws {
        let span = raw.span();
        let Section { value: raw, lost } = raw.into_inner();
        let idle = idle_keys::Keys::of(&raw);
        let name = name(scope, &mut seen, span.clone(), &lost, raw.name);
        let matcher = checked_match(scope, &mut seen, server, span.clone(), &lost, &name, raw.matcher);
        let chain: Vec<_> =
            raw.plugins.into_iter().filter_map(|raw| plugin_use(scope, shelf, &lost, raw)).collect();
        for second in chain.iter().filter_map(|used| used.rollout.as_ref()).skip(1) {
            let place = second.place.as_ref().map_or(span.clone(), |place| place.start..place.end);
            refuse_second(scope, place);
        }
        let written = action::Written {
            upstream: raw.upstream,
            sticky: raw.sticky,
            redirect: raw.redirect,
            respond: raw.respond,
        };
        let action = action::action(scope, &known, span.clone(), &lost, written);
        let written = edits::Written {
            path: raw.path,
            query: raw.query,
            host: raw.host,
            request_headers: raw.request_headers,
            response_headers: raw.response_headers,
        };
        let edits = edits::edits(scope, &lost, written);
        if let (Some(action), true) = (&action, chain.is_empty()) {
            idle.report(scope, action);
        }
        let max_body = raw.max_body.and_then(|field| max_body(scope, server, &field));
        let mirror = raw.mirror.and_then(|field| split::mirror(scope, &known, &lost, field));
        let timeouts = timeouts(scope, raw.timeouts);
        let grpc_web = raw.grpc_web.is_some_and(|field| grpc_web(scope, upstreams, action.as_ref(), &field));
        let logged = raw.access_log.unwrap_or(true);
        if let Some(action) = action {
            let place = Some(scope.place(span));
            routes.push(Route {
                name: name.into(),
                matcher,
                chain,
                action,
                edits,
                max_body,
                mirror,
                timeouts,
                grpc_web,
                logged,
                place,
            });
        }
    }
    routes
}

fn timeouts(scope: &mut Scope, raw: raw::RouteTimeouts) -> RouteTimeouts {
    let mut time = |field: Option<Spanned<raw::Scalar>>| {
        scope.value(field, None, |value| scalar::duration(value, defaults::TIME).map(Some))
    };
    RouteTimeouts {
        connect: time(raw.connect),
        read: time(raw.read),
        write: time(raw.write),
        total: time(raw.total),
    }
}

/// Trailers, which gRPC needs, come over HTTP/2 alone.
fn grpc_web(
    scope: &mut Scope,
    upstreams: &Upstreams,
    action: Option<&Action>,
    field: &Spanned<bool>,
) -> bool {
    let Some(action) = action.filter(|_| *field.get_ref()) else { return false };
    let speaks_h1 =
        |id: UpstreamId| upstreams.table.get(id.index()).filter(|one| one.protocol == PeerProtocol::H1);
    if let Some(one) = action.upstreams().find_map(speaks_h1) {
        let message =
            format!("`grpc-web`: the upstream `{}` speaks HTTP/1.1, which gRPC is not spoken over", one.name);
        let help = "set `protocol = \"h2c\"` for it, or `\"h2\"` with `tls`";
        scope.report(field.span(), Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    true
}

/// At most what the server takes: a larger body is refused before its route is known.
fn max_body(scope: &mut Scope, server: Option<&Server>, field: &Spanned<raw::Scalar>) -> Option<u64> {
    let size = scope.keep(field.span(), scalar::size(field.get_ref(), defaults::MAX_BODY))? as u64;
    if server.is_some_and(|server| size > server.limits.body_bytes) {
        let message = format!("`{}` is above the limit of the server", field.get_ref());
        let found = Diagnostic::error(codes::CONTRADICTION, message);
        scope.report(field.span(), found.with_help("raise `body` in `[server.limits]` as well"));
    }
    Some(size)
}

/// What must be unique.
#[derive(Default)]
struct Seen {
    names: HashMap<String, Range<usize>>,
    matches: HashMap<MatchKey, (String, Range<usize>)>,
}

fn name(
    scope: &mut Scope,
    seen: &mut Seen,
    span: Range<usize>,
    lost: &Lost,
    field: Option<Spanned<String>>,
) -> String {
    let Some(field) = field else {
        scope.missing(span, lost, ("routes", "name"), "the route has no `name`");
        return String::new();
    };
    let span = field.span();
    let name = field.into_inner();
    scope.keep(span.clone(), names::name(&name));
    match seen.names.get(&name) {
        Some(first) => {
            let first = scope.place(first.clone());
            let found = Diagnostic::error(codes::ROUTE_TWICE, format!("there is a route `{name}` already"))
                .with_help("give each route a name of its own")
                .with_related(first, "the first one");
            scope.report(span, found);
        }
        None => drop(seen.names.insert(name.clone(), span)),
    }
    name
}

fn checked_match(
    scope: &mut Scope,
    seen: &mut Seen,
    server: Option<&Server>,
    route: Range<usize>,
    lost: &Lost,
    name: &str,
    field: Option<Spanned<raw::Match>>,
) -> Match {
    let before = scope.errors();
    let span = field.as_ref().map_or(route, Spanned::span);
    let matcher = matcher(scope, lost, server, field.map(Spanned::into_inner).unwrap_or_default());
    // What is left of a match with mistakes says nothing.
    if scope.errors() > before || lost.has("match") {
        return matcher;
    }
    let key = MatchKey::of(&matcher);
    match seen.matches.get(&key) {
        Some((other, first)) => {
            let first = scope.place(first.clone());
            let found = Diagnostic::error(codes::MATCH_TWICE, format!("route `{other}` has the same match"))
                .with_help("one of the two would never get a request: change or remove one")
                .with_related(first, "the same requests");
            scope.report(span, found);
        }
        None => drop(seen.matches.insert(key, (name.to_owned(), span))),
    }
    matcher
}

fn plugin_use(
    scope: &mut Scope,
    shelf: &mut Shelf,
    lost: &Lost,
    raw: Spanned<raw::PluginUse>,
) -> Option<PluginUse> {
    let span = raw.span();
    let (name, config, rolled) = match raw.into_inner() {
        raw::PluginUse::Name(name) => (Some(Spanned::new(span.clone(), name)), None, None),
        raw::PluginUse::Table(raw::PluginTable { name, config, rollout }) => (name, config, rollout),
    };
    let own = config.is_some();
    let config = scope.value(config, Map::new(), json::object);
    let Some(name) = name else {
        scope.missing(span, lost, ("plugin", "name"), "the plugin has no `name`");
        return None;
    };
    let plugin = shelf.take(scope, &name)?;
    let rollout = rolled.and_then(|raw| rollout(scope, shelf, lost, plugin, &config, raw));
    let default = shelf.plugin(plugin).map(|plugin| &plugin.manifest.config);
    let config = merged(default.cloned().unwrap_or_default(), config);
    // Where all of it is the manifest's, what the plugin says of it is about the manifest.
    let manifests = shelf.config_place(plugin).filter(|_| !own).cloned();
    Some(PluginUse { plugin, config, rollout, place: manifests.or_else(|| Some(scope.place(span))) })
}

/// Key by key, the route's wins.
pub(super) fn merged(mut default: Map<String, Value>, route: Map<String, Value>) -> Map<String, Value> {
    default.extend(route);
    default
}
