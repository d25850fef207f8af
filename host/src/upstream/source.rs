//! Where the peers of an upstream come from, and what that stands for at present. Knows no DNS and no balancing.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::HeaderValue;

use crate::config::model::{PeerHost, PeerSource, Upstream as Settings};

use super::name::Answer;
use super::own_ends::OwnEnds;
use super::peer::Found;
use super::resolver::service::weights;
use super::{Endpoint, NoPeer};

/// Where an upstream's peers come from: one entry of `peers`.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) kind: SourceKind,
    pub(super) weight: u16,
    /// Who its peers have to prove to be; empty in the clear.
    pub(super) server_name: Arc<str>,
    pub(super) host: Option<HeaderValue>,
}

#[derive(Debug)]
pub(super) enum SourceKind {
    Addresses(Vec<IpAddr>, u16),
    Name(Arc<ResolvedName>, u16),
    Unix(Arc<Path>),
    Service(Arc<ResolvedName>),
}

/// What a name is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NameKind {
    Host,
    Service,
}

/// A name that DNS is asked for; shared by the upstreams that have it.
#[derive(Debug)]
pub(super) struct ResolvedName {
    pub(super) text: Arc<str>,
    pub(super) kind: NameKind,
    /// Changed by the resolver alone.
    pub(super) answer: ArcSwap<Answer>,
}

/// What a source is called, as a `Host`: without the port where that is the one of its scheme.
pub(super) fn host(settings: &Settings, source: &PeerSource) -> Option<HeaderValue> {
    let usual = if settings.tls.is_some() { 443 } else { 80 };
    let text = match source {
        PeerSource::Socket(address) => {
            let name = match &address.host {
                PeerHost::Name(name) => name.to_string(),
                PeerHost::Ip(IpAddr::V4(ip)) => ip.to_string(),
                PeerHost::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
            };
            if address.port == usual { name } else { format!("{name}:{}", address.port) }
        }
        // The domain, behind the labels of service and protocol.
        PeerSource::Service(name) => name.splitn(3, '.').nth(2)?.to_owned(),
        PeerSource::Unix(_) => return None,
    };
    HeaderValue::from_str(&text).ok()
}

/// What the sources of an upstream stand for.
pub(super) struct Findings {
    pub(super) found: Vec<Found>,
    /// Left out: the proxy itself.
    pub(super) own: Vec<SocketAddr>,
    /// Why nothing is found, where nothing is.
    pub(super) absence: NoPeer,
}

impl Findings {
    /// What the sources stand for at present, by rank, each end once; or why that is nothing.
    pub(super) fn of(sources: &[Source], own_ends: &OwnEnds) -> Self {
        let (mut found, mut own): (Vec<Found>, Vec<SocketAddr>) = (Vec::new(), Vec::new());
        // Where there is no name at all, there are addresses.
        let mut absence = NoPeer::NoAddresses;
        let mut add = |endpoint: Endpoint, weight: u16, rank: u16, source: &Source| {
            if let Some(address) = endpoint.address().filter(|address| own_ends.has(*address)) {
                if !own.contains(&address) {
                    own.push(address);
                }
                return;
            }
            let server_name = Arc::clone(&source.server_name);
            let new = Found { endpoint, weight, rank, server_name, host: source.host.clone() };
            if found
                .iter()
                .all(|there| there.endpoint != new.endpoint || there.server_name != new.server_name)
            {
                found.push(new);
            }
        };
        for source in sources {
            match &source.kind {
                SourceKind::Unix(path) => add(Endpoint::Unix(Arc::clone(path)), source.weight, 0, source),
                SourceKind::Addresses(addresses, port) => {
                    for ip in addresses {
                        add(SocketAddr::new(*ip, *port).into(), source.weight, 0, source);
                    }
                }
                SourceKind::Service(name) => {
                    let answer = name.answer.load();
                    absence = worst(absence, answer.absence());
                    for targets in answer.targets().chunk_by(|a, b| a.rank == b.rank) {
                        for (target, weight) in targets.iter().zip(weights(targets)) {
                            add(target.address.into(), weight, target.rank, source);
                        }
                    }
                }
                SourceKind::Name(name, port) => {
                    let answer = name.answer.load();
                    absence = worst(absence, answer.absence());
                    for ip in answer.addresses() {
                        add(SocketAddr::new(ip, *port).into(), source.weight, 0, source);
                    }
                }
            }
        }
        if !own.is_empty() {
            absence = worst(absence, NoPeer::OwnAddress);
        }
        found.sort_by_key(|found| found.rank);
        Self { found, own, absence }
    }
}

/// Of the reasons of several names the one that says most about what to wait for.
fn worst(a: NoPeer, b: NoPeer) -> NoPeer {
    let rank = |reason: NoPeer| match reason {
        NoPeer::NotResolved => 0,
        NoPeer::ResolverFailed => 1,
        NoPeer::OwnAddress => 2,
        NoPeer::NoSuchName => 3,
        NoPeer::NoAddresses => 4,
        NoPeer::Full | NoPeer::AllTried => 5,
    };
    if rank(a) <= rank(b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use crate::upstream::set::tests::settings;

    use super::*;

    #[test]
    fn sources_are_called_by_their_names() {
        let check = |host: &str, port: u16, expected: &str| {
            let settings = settings("main", &[(host, port)]);
            let host = super::host(&settings, &settings.peers[0].source);
            assert_eq!(host.as_ref().and_then(|host| host.to_str().ok()), Some(expected));
        };
        check("api.internal", 80, "api.internal");
        check("api.internal", 8080, "api.internal:8080");
        check("10.0.0.7", 80, "10.0.0.7");
        check("::1", 81, "[::1]:81");
        let settings = settings("main", &[]);
        let host = |source: PeerSource| super::host(&settings, &source);
        assert_eq!(host(PeerSource::Service("_http._tcp.api.internal".into())).unwrap(), "api.internal");
        assert_eq!(host(PeerSource::Unix(Path::new("/run/app.sock").into())), None);
    }
}
