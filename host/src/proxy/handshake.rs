//! The start of TLS on a client's connection: picks the virtual host by the name that the client asks for, and
//! keeps what the handshake told.

use std::sync::Arc;
use std::time::Duration;

use pingora::protocols::Ssl;
use pingora::protocols::l4::stream::Stream as TcpStream;
use pingora::protocols::tls::{TlsRef, TlsStream};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::listener::Tls;
use crate::plugin::exchange::{ClientCertificate, TlsFacts};

/// A first message of TLS is at most this long, in bytes: one record and its header.
const MAX_HELLO: usize = 16 * 1024 + 5;

/// What a handshake made.
pub(super) struct Secured {
    pub(super) stream: Box<TlsStream<TcpStream>>,
    pub(super) facts: Arc<TlsFacts>,
    /// Which virtual host it is.
    pub(super) host: usize,
}

/// `None`: the client spoke something else, was refused, gave up or was too slow.
pub(super) async fn accept(tls: &Tls, stream: TcpStream, deadline: Duration) -> Option<Secured> {
    timeout(deadline, shake_hands(tls, stream)).await.ok()?
}

async fn shake_hands(tls: &Tls, mut stream: TcpStream) -> Option<Secured> {
    let host = if tls.has_choice() { tls.index(asked_name(&mut stream).await?.as_deref()) } else { 0 };
    let handshake = tls.host(host)?.acceptor.tls_handshake(stream).await;
    let stream = match handshake {
        Ok(stream) => Box::new(stream),
        Err(error) => {
            tracing::debug!(%error, "a TLS handshake failed");
            return None;
        }
    };
    let facts = Arc::new(facts(stream.get_ssl()?));
    Some(Secured { stream, facts, host })
}

/// The name in the client's first message, which stays to be read. `None`: the connection ended.
async fn asked_name(stream: &mut TcpStream) -> Option<Option<String>> {
    let mut hello = Vec::with_capacity(1024);
    let mut reader = rustls::server::Acceptor::default();
    let name = loop {
        let seen = hello.len();
        if seen >= MAX_HELLO || stream.read_buf(&mut hello).await.ok()? == 0 {
            break None;
        }
        let mut piece = hello.get(seen..).unwrap_or_default();
        if reader.read_tls(&mut piece).is_err() {
            break None;
        }
        match reader.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => break accepted.client_hello().server_name().map(str::to_owned),
            // The handshake itself will find the mistake again, and tell the client.
            Err(_) => break None,
        }
    };
    if hello.is_empty() {
        return None;
    }
    stream.rewind(&hello);
    Some(name)
}

fn facts(tls: &TlsRef) -> TlsFacts {
    TlsFacts {
        // The library writes `TLSv1_3`.
        version: if tls.version() == Some("TLSv1_3") { "TLSv1.3" } else { "TLSv1.2" },
        server_name: tls.server_name().map(|name| name.to_ascii_lowercase().into()),
        client: tls.peer_certificate_der().map(|der| ClientCertificate {
            der: der.to_vec(),
            subject: X509Certificate::from_der(der)
                .map(|(_, certificate)| certificate.subject().to_string())
                .unwrap_or_default(),
        }),
    }
}
