//! What an upstream's peers need of TLS, in Pingora's terms; made once for all of them. Knows no files.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pingora::protocols::ALPN;
use pingora::protocols::tls::CaType;
use pingora::upstreams::peer::{HttpPeer, Scheme};
use pingora::utils::tls::{CertKey, WrappedX509, parse_x509};

use crate::config::model::{PeerHost, PeerProtocol, PeerSource, PeerTls, PeerVerify, Upstream as Settings};

/// Requests at once on one connection of HTTP/2: what most servers allow.
const STREAMS: usize = 100;

/// What is spoken to the peers of an upstream.
#[derive(Clone)]
pub(super) struct Speech {
    protocol: PeerProtocol,
    tls: Option<Arc<Tls>>,
    /// Keeps the connections of upstreams apart that would not make the same ones.
    group: u64,
}

struct Tls {
    verify: PeerVerify,
    ca: Option<Arc<CaType>>,
    identity: Option<Arc<CertKey>>,
}

impl Speech {
    pub(super) fn of(settings: &Settings) -> Self {
        let mut group = DefaultHasher::new();
        settings.protocol.hash(&mut group);
        settings.tls.as_ref().map(|tls| &tls.ca).hash(&mut group);
        Self {
            protocol: settings.protocol,
            tls: settings.tls.as_ref().map(|tls| Arc::new(Tls::of(tls))),
            group: group.finish(),
        }
    }

    /// Makes a peer of the address alone one that is spoken to like this.
    pub(super) fn teach(&self, peer: &mut HttpPeer, server_name: &str) {
        peer.group_key = self.group;
        peer.options.alpn = match self.protocol {
            PeerProtocol::H1 => ALPN::H1,
            PeerProtocol::H2 => ALPN::H2,
            PeerProtocol::Auto => ALPN::H2H1,
        };
        if self.protocol != PeerProtocol::H1 {
            peer.options.max_h2_streams = STREAMS;
        }
        let Some(tls) = &self.tls else { return };
        peer.scheme = Scheme::HTTPS;
        // Where there is none, nothing would be verified: a configuration always has one.
        server_name.clone_into(&mut peer.sni);
        peer.options.verify_cert = tls.verify != PeerVerify::Nothing;
        peer.options.verify_hostname = tls.verify == PeerVerify::Name;
        peer.options.ca.clone_from(&tls.ca);
        peer.client_cert_key.clone_from(&tls.identity);
    }
}

impl Tls {
    fn of(tls: &PeerTls) -> Self {
        let certificate = |der: &Vec<u8>| WrappedX509::new(der.clone(), parse_x509);
        Self {
            verify: tls.verify,
            ca: tls.ca.as_ref().map(|ca| ca.iter().map(certificate).collect()),
            identity: tls
                .identity
                .as_ref()
                .map(|own| Arc::new(CertKey::new(own.chain.clone(), own.key.clone()))),
        }
    }
}

/// Who the peers of a source have to prove to be: what the configuration says, or the name or address they are
/// configured by.
pub(super) fn server_name(settings: &Settings, source: &PeerSource) -> Arc<str> {
    let Some(tls) = &settings.tls else { return "".into() };
    match (&tls.sni, source) {
        (Some(sni), _) => Arc::clone(sni),
        (None, PeerSource::Socket(address)) => match &address.host {
            PeerHost::Name(name) => Arc::clone(name),
            PeerHost::Ip(ip) => ip.to_string().into(),
        },
        // The configuration is refused.
        (None, PeerSource::Unix(_)) => "".into(),
        // The name of the domain, not what DNS says of it (RFC 9525, section 6.1).
        (None, PeerSource::Service(name)) => name.splitn(3, '.').nth(2).unwrap_or_default().into(),
    }
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Speech({:?}, tls: {})", self.protocol, self.tls.is_some())
    }
}
