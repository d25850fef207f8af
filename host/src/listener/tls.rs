//! The TLS of a listener: which certificate a client is shown, and what it must show. Every virtual host has a
//! configuration of its own, with its own session tickets: a session of one is never resumed on another, which may
//! ask for a client's certificate where the first does not.

use std::collections::HashMap;
use std::sync::Arc;

use pingora::listeners::tls::Acceptor;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::server::{ClientHello, ResolvesServerCert, VerifierBuilderError, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};

use crate::config::model::{self, ClientAuthMode, HostPattern, TlsVersion};

/// TLS, ready to accept.
#[derive(Debug)]
pub struct Tls {
    /// Never empty; the first is for whoever asks for a name that none stands for.
    hosts: Vec<VirtualHost>,
    /// By name, in lower case.
    exact: HashMap<String, usize>,
    /// By what stands behind `*.`.
    wildcards: HashMap<String, usize>,
    /// Whether any virtual host asks for certificates of clients.
    pub asks_clients: bool,
}

/// One certificate with all that goes with it.
pub struct VirtualHost {
    pub acceptor: Acceptor,
    /// Whether clients are asked for a certificate.
    pub asks_clients: bool,
}

/// What the TLS library refuses.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    #[error("authorities of clients: {0}")]
    Authorities(#[from] VerifierBuilderError),
}

impl Tls {
    pub(super) fn build(model: &model::Tls, h2: bool) -> Result<Self, Broken> {
        let provider = Arc::new(default_provider());
        let mut tls = Self {
            hosts: Vec::with_capacity(model.identities.len()),
            exact: HashMap::new(),
            wildcards: HashMap::new(),
            asks_clients: model.identities.iter().any(|identity| identity.client_auth.is_some()),
        };
        for (index, identity) in model.identities.iter().enumerate() {
            for name in &identity.names {
                match name {
                    HostPattern::Exact(name) => tls.exact.entry(name.clone()).or_insert(index),
                    HostPattern::Wildcard(suffix) => tls.wildcards.entry(suffix.clone()).or_insert(index),
                };
            }
            let config = config(identity, model.min_version, &provider, h2)?;
            tls.hosts.push(VirtualHost {
                acceptor: Acceptor::from_server_config(Arc::new(config)),
                asks_clients: identity.client_auth.is_some(),
            });
        }
        Ok(tls)
    }

    /// The virtual host of a name as a client asks for it, which may have capitals and a final dot.
    pub fn index(&self, name: Option<&str>) -> usize {
        let Some(name) = name else { return 0 };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let wild = || self.wildcards.get(name.split_once('.')?.1);
        self.exact.get(&name).or_else(wild).copied().unwrap_or(0)
    }

    pub fn host(&self, index: usize) -> Option<&VirtualHost> {
        self.hosts.get(index)
    }

    /// Whether the virtual host depends on the name that a client asks for.
    pub fn has_choice(&self) -> bool {
        self.hosts.len() > 1
    }
}

fn config(
    identity: &model::Identity,
    min_version: TlsVersion,
    provider: &Arc<CryptoProvider>,
    h2: bool,
) -> Result<ServerConfig, Broken> {
    let versions: &[&SupportedProtocolVersion] = match min_version {
        TlsVersion::Tls12 => &[&TLS12, &TLS13],
        TlsVersion::Tls13 => &[&TLS13],
    };
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(provider)).with_protocol_versions(versions)?;
    let builder = match &identity.client_auth {
        None => builder.with_no_client_auth(),
        Some(auth) => {
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::clone(&auth.roots), Arc::clone(provider));
            let verifier = match auth.mode {
                ClientAuthMode::Required => verifier,
                ClientAuthMode::Optional => verifier.allow_unauthenticated(),
            };
            builder.with_client_cert_verifier(verifier.build()?)
        }
    };
    let mut config = builder.with_cert_resolver(Arc::new(One(Arc::clone(&identity.certified))));
    config.alpn_protocols =
        if h2 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { vec![b"http/1.1".to_vec()] };
    config.ticketer = Ticketer::new()?;
    Ok(config)
}

/// The one certificate of a virtual host.
#[derive(Debug)]
struct One(Arc<CertifiedKey>);

impl ResolvesServerCert for One {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

impl std::fmt::Debug for VirtualHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualHost").field("asks_clients", &self.asks_clients).finish_non_exhaustive()
    }
}
