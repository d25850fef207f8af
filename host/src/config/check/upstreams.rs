//! `[upstreams.NAME]`

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;

use super::{Taken, names};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{PeerAddress, Timeouts, Upstream};
use crate::config::raw::{self, Scalar};
use crate::config::recover::{Lost, Section};
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, example, scalar};
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

pub(crate) fn upstreams(scope: &mut Scope, taken: &Taken, entries: Vec<Entry>) -> Upstreams {
    let mut upstreams = Upstreams::default();
    for (index, (name, span, section)) in entries.into_iter().enumerate() {
        scope.keep(name.span(), names::name(name.get_ref()));
        // A broken upstream has its name too, so that its routes are not wrong as well.
        upstreams.ids.insert(name.get_ref().clone(), UpstreamId::at(index));
        if let Some(section) = section {
            upstreams.table.push(upstream(scope, taken, name.into_inner(), span, section));
        }
    }
    upstreams
}

fn upstream(
    scope: &mut Scope,
    taken: &Taken,
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
            self::peers(scope, taken, peers.into_inner(), &lost)
        }
        None => {
            scope.missing(span, &lost, ("upstreams", "peers"), format!("upstream `{name}` has no `peers`"));
            Vec::new()
        }
    };
    Upstream { name: name.into(), peers, timeouts: timeouts(scope, raw.timeouts) }
}

fn peers(scope: &mut Scope, taken: &Taken, raws: Vec<Spanned<raw::Peer>>, lost: &Lost) -> Vec<PeerAddress> {
    let mut first: HashMap<PeerAddress, Range<usize>> = HashMap::new();
    let mut peers = Vec::new();
    for raw in raws {
        let span = raw.span();
        let text = match raw.into_inner() {
            raw::Peer::Address(text) => Spanned::new(span, text),
            raw::Peer::Table(raw::PeerTable { address: Some(address) }) => address,
            raw::Peer::Table(_) => {
                scope.missing(span, lost, ("peer", "address"), "the peer has no `address`");
                continue;
            }
        };
        let Some(peer) = scope.keep(text.span(), address::peer(text.get_ref())) else { continue };
        if let Some(first) = first.get(&peer) {
            let first = scope.place(first.clone());
            let found =
                Diagnostic::warning(codes::PEER_TWICE, format!("peer `{}` is there twice", text.get_ref()))
                    .with_help("leave one of them out")
                    .with_related(first, "first here");
            scope.report(text.span(), found);
            continue;
        }
        first.insert(peer.clone(), text.span());
        scope.keep(text.span(), taken.refuse_self(&peer));
        peers.push(peer);
    }
    peers
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
    }
}
