//! Origins that speak TLS, HTTP/2, or both: they answer 200 `ok` to everything and keep what they were asked, by whom and
//! how.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::origin::{OK, start};
use crate::tls::Certificate;

/// One request that arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The name that the client asked for; nothing without TLS, or where it asked for none.
    pub sni: Option<String>,
    /// `h1` or `h2`.
    pub protocol: &'static str,
    /// The certificates that the client showed.
    pub client_certificates: usize,
    pub method: String,
    /// `Host`, or `:authority`.
    pub host: String,
    pub path: String,
    /// Counts up from 1.
    pub connection: usize,
}

/// How it takes connections.
#[derive(Debug, Clone, Default)]
pub struct Protocols {
    /// The server's own certificate; in the clear without one.
    pub certificate: Option<Certificate>,
    /// What it offers by ALPN, the best first; without TLS, `["h2"]` is prior knowledge.
    pub alpn: Vec<&'static str>,
    /// Only clients with a certificate of this authority.
    pub client_authority: Option<String>,
    /// What is answered over HTTP/2; `ok` where it is empty.
    pub body: &'static [u8],
}

/// A server on loopback.
#[derive(Debug)]
pub struct ModernOrigin {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl ModernOrigin {
    /// # Panics
    /// A certificate is none.
    pub fn start(at: &str, protocols: &Protocols) -> Self {
        let listener = TcpListener::bind(at).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let tls = protocols.certificate.as_ref().map(|own| acceptor(own, protocols));
        let by_prior_knowledge = protocols.alpn.first() == Some(&"h2");
        let body = if protocols.body.is_empty() { b"ok" } else { protocols.body };
        let keep = Arc::clone(&seen);
        start("modern origin", move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                let mut connection = 0;
                while let Ok((stream, _)) = listener.accept().await {
                    connection += 1;
                    let (tls, keep) = (tls.clone(), Arc::clone(&keep));
                    let mut of = Seen { connection, ..Seen::default() };
                    tokio::spawn(async move {
                        let Some(tls) = tls else {
                            return serve(stream, of, by_prior_knowledge.then_some(body), &keep).await;
                        };
                        let stream = tls.accept(stream).await?;
                        let session = stream.get_ref().1;
                        of.sni = session.server_name().map(str::to_owned);
                        of.client_certificates = session.peer_certificates().map_or(0, <[_]>::len);
                        let is_h2 = session.alpn_protocol() == Some(b"h2");
                        serve(stream, of, is_h2.then_some(body), &keep).await
                    });
                }
            });
        });
        Self { address, seen }
    }

    /// One with this certificate that speaks both versions of HTTP.
    pub fn tls(at: &str, certificate: &Certificate) -> Self {
        let protocols = Protocols {
            certificate: Some(certificate.clone()),
            alpn: vec!["h2", "http/1.1"],
            ..Protocols::default()
        };
        Self::start(at, &protocols)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that arrived, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn acceptor(own: &Certificate, protocols: &Protocols) -> TlsAcceptor {
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions");
    let builder = match &protocols.client_authority {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM")).expect("an authority");
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        }
    };
    let chain = vec![CertificateDer::from_pem_slice(own.pem.as_bytes()).expect("PEM")];
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).expect("a key");
    let mut config = builder.with_single_cert(chain, key).expect("a pair");
    config.alpn_protocols = protocols.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// Speaks HTTP/2 where there is a body for it.
async fn serve<S>(
    stream: S,
    of: Seen,
    h2_body: Option<&'static [u8]>,
    seen: &Mutex<Vec<Seen>>,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match h2_body {
        Some(body) => h2(stream, of, body, seen).await.map_err(io::Error::other),
        None => h1(stream, of, seen).await,
    }
}

fn keep(seen: &Mutex<Vec<Seen>>, request: Seen) {
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
}

async fn h2<S>(stream: S, of: Seen, answer: &'static [u8], seen: &Mutex<Vec<Seen>>) -> Result<(), h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request?;
        let uri = request.uri();
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let (method, path) = (request.method().to_string(), uri.path().to_owned());
        keep(seen, Seen { protocol: "h2", method, host, path, ..of.clone() });
        let mut body = respond.send_response(http::Response::new(()), false)?;
        body.send_data(Bytes::from_static(answer), true)?;
    }
    Ok(())
}

/// Requests without a body.
async fn h1<S>(mut stream: S, of: Seen, seen: &Mutex<Vec<Seen>>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut ahead = Vec::new();
    loop {
        while !ahead.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut ahead).await? == 0 {
                return Ok(());
            }
        }
        let text = String::from_utf8_lossy(&ahead).into_owned();
        let mut words = text.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let host = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
        });
        keep(seen, Seen { protocol: "h1", method, path, host: host.unwrap_or_default(), ..of.clone() });
        ahead.clear();
        stream.write_all(OK.as_bytes()).await?;
    }
}

/// Writes a certificate or key to where a configuration can name it.
///
/// # Panics
/// It can't be written.
pub fn write_pem(directory: &std::path::Path, name: &str, pem: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, pem).expect("a file");
    path.display().to_string()
}
