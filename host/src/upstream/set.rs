//! The upstreams of a generation and their current peers. Knows no DNS: what is known of a name is put
//! here by the resolver.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arc_swap::ArcSwap;

use crate::config::model::{
    Config, HashKey, Health, PeerHost, PeerSource, Retries, Timeouts, Upstream as Settings,
};
use crate::ids::UpstreamId;

use super::balance::{Ask, Balancer, PeerSet};
use super::hosts_file::HostsFile;
use super::name::Answer;
use super::own_ends::OwnEnds;
use super::peer::Found;
use super::retry::RetryBudget;
use super::source::{Findings, NameKind, ResolvedName, Source, SourceKind};
use super::speech::{Speech, server_name};
use super::state::PeerState;
use super::{Hold, NoPeer, Peer, Retrying, source};

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
    settings: Settings,
    speech: Speech,
    sources: Vec<Source>,
    current: ArcSwap<PeerSet>,
    balancer: Balancer,
    own_ends: Arc<OwnEnds>,
    retrying: Arc<RetryBudget>,
}

impl Upstreams {
    /// The upstreams of a configuration. Those with addresses and with names of `/etc/hosts` have their
    /// peers at once; the others get them from a [`super::Resolver`].
    pub fn build(config: &Config) -> Self {
        Self::with_hosts(config, &HostsFile::of_system())
    }

    pub(super) fn with_hosts(config: &Config, hosts: &HostsFile) -> Self {
        let mut names: HashMap<(NameKind, Arc<str>), Arc<ResolvedName>> = HashMap::new();
        let mut resolved = |kind: NameKind, name: &Arc<str>| {
            let answer = match kind {
                NameKind::Host => Answer::default(),
                NameKind::Service => Answer::service(),
            };
            let new = || {
                Arc::new(ResolvedName { text: Arc::clone(name), kind, answer: ArcSwap::from_pointee(answer) })
            };
            Arc::clone(names.entry((kind, Arc::clone(name))).or_insert_with(new))
        };
        let mut source_kind = |source: &PeerSource| match source {
            PeerSource::Unix(path) => SourceKind::Unix(Arc::clone(path)),
            PeerSource::Service(name) => SourceKind::Service(resolved(NameKind::Service, name)),
            PeerSource::Socket(address) => match &address.host {
                PeerHost::Ip(ip) => SourceKind::Addresses(vec![*ip], address.port),
                PeerHost::Name(name) => match hosts.addresses(name) {
                    Some(addresses) => SourceKind::Addresses(addresses, address.port),
                    None => SourceKind::Name(resolved(NameKind::Host, name), address.port),
                },
            },
        };
        let own_ends = Arc::new(OwnEnds::of(config));
        let list: Vec<_> = config
            .upstreams
            .iter()
            .map(|settings| {
                let peers = settings.peers.iter();
                let sources = peers.map(|peer| Source {
                    kind: source_kind(&peer.source),
                    weight: peer.weight,
                    server_name: server_name(settings, &peer.source),
                    host: source::host(settings, &peer.source),
                });
                Arc::new(Upstream::new(settings.clone(), sources.collect(), Arc::clone(&own_ends)))
            })
            .collect();
        let ids =
            list.iter().enumerate().map(|(at, it)| (Arc::clone(it.name()), UpstreamId::at(at))).collect();
        Self { list, ids, names: names.into_values().collect() }
    }

    /// Takes over what an earlier generation knows: of names, so that a reload never waits for DNS again, and of
    /// the upstreams that keep their name: their peers, the requests on their way and the retries among them. Call it before
    /// anybody else has them.
    pub fn inherit(&mut self, earlier: &Upstreams) {
        let known: HashMap<_, _> = earlier.names.iter().map(|name| ((name.kind, &name.text), name)).collect();
        for name in &self.names {
            if let Some(known) = known.get(&(name.kind, &name.text)) {
                name.answer.store(known.answer.load_full());
            }
        }
        for upstream in &mut self.list {
            let same = earlier.id(upstream.name()).and_then(|id| earlier.get(id));
            if let (Some(upstream), Some(same)) = (Arc::get_mut(upstream), same) {
                upstream.balancer.inherit(&same.balancer);
                upstream.retrying = Arc::clone(&same.retrying);
            }
            upstream.refresh_with(&same.map(|same| same.peers()).unwrap_or_default());
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
    fn new(settings: Settings, sources: Vec<Source>, own_ends: Arc<OwnEnds>) -> Self {
        let nothing = PeerSet::new(Vec::new(), NoPeer::NotResolved, &settings.balance);
        let balancer = Balancer::new(&settings);
        let upstream = Self {
            speech: Speech::of(&settings),
            settings,
            sources,
            current: ArcSwap::from_pointee(nothing),
            balancer,
            own_ends,
            retrying: Arc::default(),
        };
        upstream.refresh();
        upstream
    }

    /// As [`Self::pick`], and where all are busy, waits for as long as the upstream's limits say.
    ///
    /// # Errors
    /// There is no peer, all were tried, or had no room in time.
    pub async fn acquire(&self, ask: &Ask<'_>) -> Result<Hold, NoPeer> {
        match self.balancer.gate() {
            // Who comes while others wait, waits behind them.
            Some(gate) if gate.waiting() > 0 => gate.wait(|| self.pick(ask)).await,
            Some(gate) => match self.pick(ask) {
                Err(NoPeer::Full) => gate.wait(|| self.pick(ask)).await,
                done => done,
            },
            None => self.pick(ask),
        }
    }

    /// How many requests were refused for its limits.
    pub(super) fn refused(&self) -> u64 {
        self.balancer.refused()
    }

    /// The peer for a request, which is in flight there until the hold is dropped. Waits for nothing: no look-up,
    /// no lock.
    ///
    /// # Errors
    /// There is no peer, or all were tried.
    pub fn pick(&self, ask: &Ask<'_>) -> Result<Hold, NoPeer> {
        self.balancer.pick(&self.current.load(), ask)
    }

    /// Its name in the configuration.
    pub fn name(&self) -> &Arc<str> {
        &self.settings.name
    }

    pub fn timeouts(&self) -> &Timeouts {
        &self.settings.timeouts
    }

    pub fn retries(&self) -> &Retries {
        &self.settings.retries
    }

    /// How its peers are checked, if they are.
    pub(super) fn health(&self) -> Option<&Health> {
        self.settings.health.as_ref()
    }

    /// Lets a request be sent once more, where the budget for that allows it.
    pub fn draw_retry(&self) -> Option<Retrying> {
        let in_flight = self.current.load().peers.iter().map(Peer::in_flight).sum();
        self.retrying.draw(self.settings.retries.budget, in_flight)
    }

    /// How often requests were sent once more, and how often the budget did not allow it.
    pub(super) fn retried(&self) -> (u64, u64) {
        (self.retrying.allowed.load(Relaxed), self.retrying.refused.load(Relaxed))
    }

    /// What [`Ask::key`] has to be, where that is read.
    pub fn hash_key(&self) -> Option<&HashKey> {
        self.balancer.hash_key()
    }

    /// The peers it has at present.
    pub fn peers(&self) -> Vec<Peer> {
        self.current.load().peers.clone()
    }

    /// Why it has no peers, where it has none.
    pub fn absence(&self) -> Option<NoPeer> {
        let current = self.current.load();
        current.peers.is_empty().then_some(current.absence)
    }

    /// Addresses that it would have and that are the proxy's own: they are left out.
    pub fn own_addresses(&self) -> Vec<SocketAddr> {
        self.current.load().own.clone()
    }

    /// Its names that stand for nothing at present, with the reason.
    pub fn unresolved(&self) -> Vec<(Arc<str>, NoPeer)> {
        let nothing = |source: &Source| match &source.kind {
            SourceKind::Name(name, _) => {
                let answer = name.answer.load();
                answer.addresses().is_empty().then(|| (Arc::clone(&name.text), answer.absence()))
            }
            SourceKind::Service(name) => {
                let answer = name.answer.load();
                answer.targets().is_empty().then(|| (Arc::clone(&name.text), answer.absence()))
            }
            SourceKind::Addresses(..) | SourceKind::Unix(_) => None,
        };
        self.sources.iter().filter_map(nothing).collect()
    }

    /// Whether a peer may be left out for its errors, or left out for longer, beside those that are.
    pub(super) fn may_eject(&self, peer: &Peer, max_share: u8) -> bool {
        let current = self.current.load();
        let is_out = |other: &&Peer| !other.is(peer) && other.state().is_out();
        let others = current.peers.iter().filter(is_out).count();
        (others + 1) * 100 <= usize::from(max_share) * current.peers.len()
    }

    pub(super) fn uses(&self, name: &Arc<ResolvedName>) -> bool {
        self.sources.iter().any(|source| match &source.kind {
            SourceKind::Name(used, _) | SourceKind::Service(used) => Arc::ptr_eq(used, name),
            SourceKind::Addresses(..) | SourceKind::Unix(_) => false,
        })
    }

    /// Makes the peers those of the current answers. Called by one task at a time. Peers that stay keep
    /// what is known of them.
    pub(super) fn refresh(&self) -> Refreshed {
        self.refresh_with(&[])
    }

    fn refresh_with(&self, earlier: &[Peer]) -> Refreshed {
        let current = self.current.load();
        let Findings { found, own, absence } = Findings::of(&self.sources, &self.own_ends);
        if own != current.own && !own.is_empty() {
            tracing::warn!(
                upstream = %self.name(),
                addresses = ?own,
                "addresses of the upstream are the proxy's own: they are left out"
            );
        }
        let is_same = found.len() == current.peers.len()
            && found.iter().zip(&current.peers).all(|(found, peer)| peer.is_same(found));
        if is_same && absence == current.absence && own == current.own && earlier.is_empty() {
            return Refreshed::Same;
        }
        let peer = |found: Found| {
            let same = |peers: &[Peer]| peers.iter().find(|peer| peer.is_at(&found)).cloned();
            let state = match same(earlier) {
                Some(earlier) => Arc::clone(earlier.state()),
                None => match same(&current.peers) {
                    Some(peer) if peer.is_same(&found) => return peer,
                    Some(peer) => Arc::clone(peer.state()),
                    // The first ones have nobody to take the requests meanwhile.
                    None if current.peers.is_empty() => Arc::default(),
                    None => Arc::new(PeerState::newcomer()),
                },
            };
            Peer::new(found, &self.settings, &self.speech, state)
        };
        let peers = found.into_iter().map(peer).collect();
        let mut set = PeerSet::new(peers, absence, &self.settings.balance);
        set.own = own;
        self.current.store(Arc::new(set));
        if is_same { Refreshed::Same } else { Refreshed::Changed }
    }
}

/// Whether an upstream has other peers than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refreshed {
    Same,
    Changed,
}

#[cfg(test)]
pub(super) mod tests;
