//! The upstreams of a generation and their current peers. Knows no DNS: what is known of a name is put
//! here by the resolver.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::config::model::{Config, PeerHost, Timeouts};
use crate::ids::UpstreamId;

use super::balance::{PeerSet, RoundRobin};
use super::hosts_file::HostsFile;
use super::name::Answer;
use super::{NoPeer, Peer};

/// Every upstream, by id and by name. Never changes; the peers of an upstream do.
#[derive(Debug)]
pub struct Upstreams {
    list: Vec<Arc<Upstream>>,
    ids: HashMap<Arc<str>, UpstreamId>,
    names: Vec<Arc<ResolvedName>>,
}

/// A named group of peers.
#[derive(Debug)]
pub struct Upstream {
    name: Arc<str>,
    timeouts: Timeouts,
    sources: Vec<Source>,
    current: ArcSwap<PeerSet>,
    turns: RoundRobin,
}

/// Where an upstream's peers come from: one entry of `peers`.
#[derive(Debug)]
struct Source {
    host: SourceHost,
    port: u16,
}

#[derive(Debug)]
enum SourceHost {
    Addresses(Vec<IpAddr>),
    Name(Arc<ResolvedName>),
}

/// A name that DNS is asked for; shared by the upstreams that have it.
#[derive(Debug)]
pub(super) struct ResolvedName {
    pub(super) text: Arc<str>,
    /// Changed by the resolver alone.
    pub(super) answer: ArcSwap<Answer>,
}

impl Upstreams {
    /// The upstreams of a configuration. Those with addresses and with names of `/etc/hosts` have their
    /// peers at once; the others get them from a [`super::Resolver`].
    pub fn build(config: &Config) -> Self {
        Self::with_hosts(config, &HostsFile::of_system())
    }

    pub(super) fn with_hosts(config: &Config, hosts: &HostsFile) -> Self {
        let mut names: HashMap<Arc<str>, Arc<ResolvedName>> = HashMap::new();
        let mut source_host = |host: &PeerHost| match host {
            PeerHost::Ip(address) => SourceHost::Addresses(vec![*address]),
            PeerHost::Name(name) => match hosts.addresses(name) {
                Some(addresses) => SourceHost::Addresses(addresses),
                None => {
                    let resolved = names.entry(Arc::clone(name)).or_insert_with(|| {
                        Arc::new(ResolvedName { text: Arc::clone(name), answer: ArcSwap::default() })
                    });
                    SourceHost::Name(Arc::clone(resolved))
                }
            },
        };
        let list: Vec<_> = config
            .upstreams
            .iter()
            .map(|upstream| {
                let peers = upstream.peers.iter();
                let sources = peers.map(|peer| Source { host: source_host(&peer.host), port: peer.port });
                Arc::new(Upstream::new(Arc::clone(&upstream.name), upstream.timeouts, sources.collect()))
            })
            .collect();
        let ids =
            list.iter().enumerate().map(|(at, it)| (Arc::clone(&it.name), UpstreamId::at(at))).collect();
        Self { list, ids, names: names.into_values().collect() }
    }

    /// Takes over what an earlier generation knows of the names, so that a reload never waits for DNS
    /// again. Call it before the resolver runs.
    pub fn inherit(&self, earlier: &Upstreams) {
        let known: HashMap<_, _> = earlier.names.iter().map(|name| (&name.text, name)).collect();
        for name in &self.names {
            if let Some(known) = known.get(&name.text) {
                name.answer.store(known.answer.load_full());
            }
        }
        for upstream in &self.list {
            upstream.refresh();
        }
    }

    pub fn get(&self, id: UpstreamId) -> Option<&Arc<Upstream>> {
        self.list.get(id.index())
    }

    /// The id of the upstream of that name.
    pub fn id(&self, name: &str) -> Option<UpstreamId> {
        self.ids.get(name).copied()
    }

    /// All of them, in the order of the configuration file.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.list.iter()
    }

    /// Names that DNS has to be asked for.
    pub(super) fn names(&self) -> &[Arc<ResolvedName>] {
        &self.names
    }
}

impl Upstream {
    fn new(name: Arc<str>, timeouts: Timeouts, sources: Vec<Source>) -> Self {
        let nothing = PeerSet { peers: Vec::new(), absence: NoPeer::NotResolved };
        let upstream = Self {
            name,
            timeouts,
            sources,
            current: ArcSwap::from_pointee(nothing),
            turns: RoundRobin::default(),
        };
        upstream.refresh();
        upstream
    }

    /// The peer for a request that tried these already. Waits for nothing: no look-up, no lock.
    ///
    /// # Errors
    /// There is no peer, or all were tried.
    pub fn pick(&self, tried: &[SocketAddr]) -> Result<Peer, NoPeer> {
        self.turns.pick(&self.current.load(), tried)
    }

    /// Its name in the configuration.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The peers it has at present.
    pub fn peers(&self) -> Vec<Peer> {
        self.current.load().peers.clone()
    }

    pub(super) fn uses(&self, name: &Arc<ResolvedName>) -> bool {
        self.sources.iter().any(|source| match &source.host {
            SourceHost::Name(used) => Arc::ptr_eq(used, name),
            SourceHost::Addresses(_) => false,
        })
    }

    /// Makes the peers those of the current answers. Called by one task at a time. Peers that stay keep
    /// what is known of them.
    pub(super) fn refresh(&self) -> Refreshed {
        let current = self.current.load();
        let mut addresses = Vec::new();
        let mut absence = NoPeer::NoSuchName;
        for source in &self.sources {
            let found = match &source.host {
                SourceHost::Addresses(addresses) => addresses.clone(),
                SourceHost::Name(name) => {
                    let answer = name.answer.load();
                    absence = worst(absence, answer.absence());
                    answer.addresses()
                }
            };
            for address in found.into_iter().map(|address| SocketAddr::new(address, source.port)) {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        let is_same = addresses.iter().eq(current.peers.iter().map(|peer| &peer.address));
        if is_same && absence == current.absence {
            return Refreshed::Same;
        }
        let peer = |address: SocketAddr| {
            let known = current.peers.iter().find(|peer| peer.address == address);
            known.cloned().unwrap_or_else(|| Peer::new(address, &self.timeouts))
        };
        let peers = addresses.into_iter().map(peer).collect();
        self.current.store(Arc::new(PeerSet { peers, absence }));
        if is_same { Refreshed::Same } else { Refreshed::Changed }
    }
}

/// Whether an upstream has other peers than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refreshed {
    Same,
    Changed,
}

/// Of the reasons of several names the one that says most about what to wait for.
fn worst(a: NoPeer, b: NoPeer) -> NoPeer {
    let rank = |reason: NoPeer| match reason {
        NoPeer::NotResolved => 0,
        NoPeer::ResolverFailed => 1,
        NoPeer::NoSuchName => 2,
        NoPeer::AllTried => 3,
    };
    if rank(a) <= rank(b) { a } else { b }
}

#[cfg(test)]
pub(super) mod tests;
