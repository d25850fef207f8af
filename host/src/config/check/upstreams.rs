//! `[upstreams.NAME]`

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use super::{Taken, balance, health, names, peer_tls, peers, retries};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Ejection, Timeouts, Upstream, UpstreamLimits};
use crate::config::raw::{self, Scalar};
use crate::config::recover::Section;
use crate::config::scope::Scope;
use crate::config::{codes, defaults, example, scalar};
use crate::ids::UpstreamId;

/// The upstreams and their names.
#[derive(Debug, Default)]
pub(crate) struct Upstreams {
    pub(crate) table: Vec<Upstream>,
    ids: HashMap<String, UpstreamId>,
    /// Some can't be told from the file: that a name is unknown is no mistake then.
    partial: bool,
}

impl Upstreams {
    /// What could not be read as tables.
    pub(crate) fn partial() -> Self {
        Self { partial: true, ..Self::default() }
    }

    /// The same, without a word on names that are not among them.
    pub(crate) fn with_unread(self) -> Self {
        Self { partial: true, ..self }
    }

    /// The names, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.ids.keys().map(String::as_str)
    }

    /// The id of that name; a made-up one where it may be one that could not be read.
    pub(super) fn id(&self, name: &str) -> Option<UpstreamId> {
        let unread = self.partial.then_some(UpstreamId(0));
        self.ids.get(name).copied().or(unread)
    }
}

/// Each entry: its name, its section, or nothing where that is no table.
pub(crate) type Entry = (Spanned<String>, Range<usize>, Option<Section<raw::Upstream>>);

pub(crate) fn upstreams(scope: &mut Scope, taken: &Taken, base: &Path, entries: Vec<Entry>) -> Upstreams {
    let mut upstreams = Upstreams::default();
    for (index, (name, span, section)) in entries.into_iter().enumerate() {
        scope.keep(name.span(), names::name(name.get_ref()));
        // A broken upstream has its name too, so that its routes are not wrong as well.
        upstreams.ids.insert(name.get_ref().clone(), UpstreamId::at(index));
        if let Some(section) = section {
            upstreams.table.push(upstream(scope, taken, base, name.into_inner(), span, section));
        }
    }
    upstreams
}

fn upstream(
    scope: &mut Scope,
    taken: &Taken,
    base: &Path,
    name: String,
    span: Range<usize>,
    section: Section<raw::Upstream>,
) -> Upstream {
    let Section { value: raw, lost } = section;
    let peers = match raw.peers {
        Some(peers) => {
            if peers.get_ref().is_empty() && !lost.has("peers") {
                let help = format!("for example {}", example::quoted("upstreams", "peers"));
                let message = format!("upstream `{name}` has an empty list of peers");
                scope.report(peers.span(), Diagnostic::error(codes::NO_PEERS, message).with_help(help));
            }
            peers::peers(scope, taken, peers.into_inner(), &lost)
        }
        None => {
            scope.missing(span, &lost, ("upstreams", "peers"), format!("upstream `{name}` has no `peers`"));
            Vec::new()
        }
    };
    let tls = raw.tls.and_then(|raw| peer_tls::tls(scope, base, raw, &peers));
    let protocol = peer_tls::protocol(scope, raw.protocol, tls.is_some());
    let default = defaults::upstream(name.into(), peers);
    Upstream {
        balance: raw.balance.map_or(default.balance, |raw| balance::balance(scope, raw)),
        protocol,
        tls,
        timeouts: timeouts(scope, raw.timeouts),
        retries: retries::retries(scope, raw.retries),
        health: raw.health.and_then(|raw| health::health(scope, raw)),
        ejection: ejection(scope, raw.ejection),
        limits: limits(scope, raw.limits),
        slow_start: scope
            .value(raw.slow_start, default.slow_start, |value| scalar::duration(value, defaults::SLOW_START)),
        panic_threshold: scope.value(raw.panic_threshold, default.panic_threshold, scalar::percent),
        ..default
    }
}

fn timeouts(scope: &mut Scope, raw: raw::Timeouts) -> Timeouts {
    let default = defaults::timeouts();
    let mut time = |field: Option<Spanned<Scalar>>, default| {
        scope.value(field, default, |value| scalar::duration(value, defaults::TIME))
    };
    Timeouts {
        connect: time(raw.connect, default.connect),
        read: time(raw.read, default.read),
        write: time(raw.write, default.write),
        idle: time(raw.idle, default.idle),
        total: time(raw.total, default.total),
    }
}

fn limits(scope: &mut Scope, raw: raw::UpstreamLimits) -> UpstreamLimits {
    let default = defaults::upstream_limits();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut most = |field: Option<Spanned<Scalar>>| {
        scope.value(field, None, |value| Ok(scalar::count_or_off(value, defaults::AT_ONCE)?.map(count)))
    };
    let max_requests = most(raw.max_requests);
    let max_connections = most(raw.max_connections);
    let max_pending = scope.value(raw.max_pending, default.max_pending, |number| {
        scalar::count(*number, defaults::PENDING).map(count)
    });
    let pending_timeout = scope
        .value(raw.pending_timeout, default.pending_timeout, |value| scalar::duration(value, defaults::TIME));
    UpstreamLimits { max_requests, max_connections, max_pending, pending_timeout }
}

fn ejection(scope: &mut Scope, raw: raw::Ejection) -> Ejection {
    let default = defaults::ejection();
    let mut row = |field: Option<Spanned<Scalar>>, default| {
        scope.value(field, default, |value| {
            let row = scalar::count_or_off(value, defaults::IN_A_ROW)?;
            Ok(row.map(|row| u32::try_from(row).unwrap_or(u32::MAX)))
        })
    };
    let connect_failures = row(raw.connect_failures, default.connect_failures);
    let server_errors = row(raw.server_errors, default.server_errors);
    let span = raw.time.as_ref().or(raw.max_time.as_ref()).map(Spanned::span);
    let mut time = |field: Option<Spanned<Scalar>>, default| {
        scope.value(field, default, |value| scalar::duration(value, defaults::TIME))
    };
    let first = time(raw.time, default.time);
    let max_time = time(raw.max_time, default.max_time.max(first));
    if let Some(span) = span.filter(|_| first > max_time) {
        let (first, max) = (scalar::told(first), scalar::told(max_time));
        let message = format!("`time` (`{first}`) is above `max-time` (`{max}`)");
        let help = "the first ejection is the shortest one";
        scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    let max_share = scope.value(raw.max_share, default.max_share, scalar::percent);
    Ejection { connect_failures, server_errors, time: first, max_time, max_share }
}
