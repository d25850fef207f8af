//! Certificates for tests, and a client that trusts them.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::NamedGroup;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};

/// Signs certificates.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate with its key, in PEM.
#[derive(Debug, Clone)]
pub struct Certificate {
    pub pem: String,
    pub key: String,
}

impl Authority {
    /// # Panics
    /// No key can be made.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Its own certificate, in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for these names; the first is its common name, too.
    ///
    /// # Panics
    /// It can't be made.
    pub fn issue(&self, names: &[&str]) -> Certificate {
        self.issue_with(names, |_| {})
    }

    /// One that is not as it should be.
    ///
    /// # Panics
    /// It can't be made.
    pub fn issue_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Certificate {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names.clone()).expect("names");
        params.distinguished_name.push(DnType::CommonName, names.first().cloned().unwrap_or_default());
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Certificate { pem: certificate.pem(), key: key.serialize_pem() }
    }
}

/// How a client does TLS. Sessions are resumed where the server allows it.
#[derive(Debug, Clone)]
pub struct TlsClient(Arc<ClientConfig>);

impl TlsClient {
    /// One that trusts this authority.
    ///
    /// # Panics
    /// Its certificate is none.
    pub fn new(authority: &Authority) -> Self {
        Self::with(authority, None, rustls::ALL_VERSIONS, &[])
    }

    /// One that shows this certificate.
    ///
    /// # Panics
    /// A certificate is none.
    pub fn showing(authority: &Authority, own: &Certificate) -> Self {
        Self::with(authority, Some(own), rustls::ALL_VERSIONS, &[])
    }

    /// # Panics
    /// A certificate is none.
    pub fn with(
        authority: &Authority,
        own: Option<&Certificate>,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&str],
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).expect("PEM"))
            .expect("an authority");
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(versions)
            .expect("versions")
            .with_root_certificates(roots);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain = vec![CertificateDer::from_pem_slice(own.pem.as_bytes()).expect("PEM")];
                let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).expect("a key");
                builder.with_client_auth_cert(chain, key).expect("a pair")
            }
        };
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self(Arc::new(config))
    }

    /// Sessions of any name are tried for any other.
    #[must_use]
    pub fn with_one_memory(mut self) -> Self {
        Arc::make_mut(&mut self.0).resumption = Resumption::store(Arc::new(OneMemory::default()));
        self
    }

    pub(crate) fn session(&self, name: &str) -> ClientConnection {
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        ClientConnection::new(Arc::clone(&self.0), name).expect("a client")
    }

    /// For an asynchronous client.
    pub fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// Remembers sessions of all names as if they were of one.
#[derive(Debug)]
struct OneMemory(ClientSessionMemoryCache);

impl Default for OneMemory {
    fn default() -> Self {
        Self(ClientSessionMemoryCache::new(8))
    }
}

fn one_name() -> ServerName<'static> {
    ServerName::try_from("one").expect("a name")
}

impl ClientSessionStore for OneMemory {
    fn set_kx_hint(&self, _name: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(one_name(), group);
    }

    fn kx_hint(&self, _name: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.kx_hint(&one_name())
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.0.set_tls12_session(one_name(), value);
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.0.tls12_session(&one_name())
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        self.0.remove_tls12_session(&one_name());
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(one_name(), value);
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.0.take_tls13_ticket(&one_name())
    }
}
