//! A connection before its first request: which protocols its listener speaks, and who is at the other end.
//! Also the log line for requests that Pingora refuses before any hook of a request runs.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use pingora::apps::{HttpServerApp as _, ServerApp as _};
use pingora::protocols::l4::socket;
use pingora::protocols::l4::stream::Stream as TcpStream;
use pingora::protocols::{ALPN, GetSocketDigest as _, Ssl};
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;

use crate::config::model::ProxyProtocol;
use crate::listener::Listener;
use crate::observe::access_log::{AccessLog, Escaped, Record};
use crate::snapshot::Generation;

use super::EdgeProxy;
use super::connections::{Connections, Fresh, Place, Standing};
use super::downstream::{Connection, Downstream, Transport};
use super::failure::Kind;
use super::http1::Http1;
use super::http2::Http2;
use super::{forwarded, handshake, preface, proxy_protocol};

/// What a connection is told that nobody has room for.
const DISMISSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

tokio::task_local! {
    /// The client of the connection whose task is running.
    static CLIENT: SocketAddr;
}

/// Serves the connections of all public listeners.
pub struct Edge {
    http1: Http1,
    connections: Connections,
}

impl Edge {
    pub fn new(
        proxy: HttpProxy<EdgeProxy>,
        generation: Arc<ArcSwap<Generation>>,
        connections: Connections,
    ) -> Self {
        Self { http1: Http1 { proxy: Arc::new(proxy), generation }, connections }
    }

    /// Has the end of the process wait for the first request of a connection.
    pub fn fresh(&self) -> Fresh {
        self.connections.fresh()
    }

    /// Counts a connection that was just made.
    pub(crate) fn enter(&self) -> Place {
        self.connections.enter(self.http1.generation.load().policy.limits.connections)
    }

    /// Ends a connection that there is no room for: without a look at what is asked for, and without waiting.
    pub(crate) fn dismiss(&self, connection: tokio::net::TcpStream) {
        let Ok(local) = connection.local_addr() else { return };
        let answers = self.http1.generation.load().listeners.at(local).is_some_and(|it| answers(it));
        let Ok(mut connection) = connection.into_std() else { return };
        if answers {
            // A client that does not take it is told nothing, as others are not.
            let _ = connection.write(DISMISSAL);
            // What is unread at the end resets the connection, and the client may never see the answer.
            let _ = connection.read(&mut [0; 4096]);
        }
    }

    /// Serves a connection to its end, or turns it away where there are too many.
    pub(crate) async fn take(&self, stream: TcpStream, place: Place, fresh: Fresh, shutdown: &ShutdownWatch) {
        let arrived = arrival(&self.http1.generation.load(), &stream);
        let Some((listener, peer)) = arrived else { return };
        match place.standing {
            Standing::Served => {
                CLIENT.scope(peer, self.serve(stream, listener, peer, fresh, shutdown)).await;
            }
            Standing::Told => self.turn_away(stream, listener, peer).await,
            Standing::Closed => {}
        }
    }

    /// Before the process ends.
    pub async fn end(&self) {
        self.http1.proxy.http_cleanup().await;
    }

    async fn turn_away(&self, stream: TcpStream, listener: Arc<Listener>, peer: SocketAddr) {
        if !answers(&listener) {
            return;
        }
        let limits = self.http1.generation.load().policy.limits;
        let connection = Arc::new(Connection::new(listener, peer, None, 0));
        if let Some(stream) = Downstream::new(Transport::Clear(Box::new(stream)), connection, &limits) {
            self.http1.turn_away(Box::new(stream)).await;
        }
    }

    /// `None`: the connection came to its end before a request.
    async fn serve(
        &self,
        mut stream: TcpStream,
        listener: Arc<Listener>,
        peer: SocketAddr,
        fresh: Fresh,
        shutdown: &ShutdownWatch,
    ) -> Option<()> {
        let generation = self.http1.generation.load_full();
        let limits = generation.policy.limits;
        let mut peer = peer;
        if listener.proxy_protocol != ProxyProtocol::Off {
            if forwarded::is_trusted(peer.ip(), &generation.policy.trusted_proxies) {
                let told =
                    proxy_protocol::read(listener.proxy_protocol, &mut stream, limits.handshake).await?;
                peer = told.unwrap_or(peer);
            } else if listener.proxy_protocol == ProxyProtocol::Required {
                return None;
            }
        }
        drop(generation);
        let (transport, tls, host) = match &listener.tls {
            Some(tls) => {
                let secured = handshake::accept(tls, stream, limits.handshake).await?;
                (Transport::Tls(secured.stream), Some(secured.facts), secured.host)
            }
            None => (Transport::Clear(Box::new(stream)), None, 0),
        };
        let by_preface = listener.h2 && tls.is_none();
        let connection = Arc::new(Connection::new(listener, peer, tls, host));
        let mut stream = Box::new(Downstream::new(transport, connection, &limits)?);
        let http2 = match stream.selected_alpn_proto() {
            Some(protocol) => matches!(protocol, ALPN::H2),
            None => by_preface && preface::comes(&mut stream, &limits).await?,
        };
        if http2 {
            stream.open();
            drop(fresh);
            let proxy = Arc::clone(&self.http1.proxy);
            Arc::new(Http2::new(proxy, limits)).process_new(stream, shutdown).await;
        } else {
            self.http1.serve(stream, fresh, shutdown).await;
        }
        Some(())
    }
}

/// Whether those who are too many are told so: only HTTP in the clear can be answered without more work than it would be
/// to serve it.
fn answers(listener: &Listener) -> bool {
    listener.tls.is_none() && listener.proxy_protocol == ProxyProtocol::Off
}

/// Which listener a connection came to, and from where.
fn arrival(generation: &Generation, stream: &TcpStream) -> Option<(Arc<Listener>, SocketAddr)> {
    let digest = stream.get_socket_digest()?;
    match (digest.local_addr()?, digest.peer_addr()?) {
        (socket::SocketAddr::Inet(local), socket::SocketAddr::Inet(peer)) => {
            Some((Arc::clone(generation.listeners.at(*local)?), *peer))
        }
        _ => None,
    }
}

/// Pingora's reason, with no more of the request in it than its first line: fields hold secrets.
fn without_fields(reason: &str) -> &str {
    let Some(start) = reason.find("buf: ") else { return reason };
    let end = reason.get(start..).and_then(|buffer| buffer.find('\\').map(|end| start + end));
    // A first line without an end may hold anything.
    reason.get(..end.unwrap_or(start)).unwrap_or(reason)
}

/// Writes the access log line of a request that Pingora answered with 400 by itself: it knows the reason and
/// often the bytes, and the connection's task knows the client.
pub fn log_refused(log: &AccessLog, reason: &str) {
    let client = CLIENT.try_with(SocketAddr::ip).ok();
    log.write(&Record {
        time: std::time::SystemTime::now(),
        request_id: None,
        client,
        method: None,
        host: None,
        target: None,
        protocol: None,
        status: 400,
        duration_us: 0,
        request_bytes: 0,
        response_bytes: 0,
        user_agent: None,
        referer: None,
        route: None,
        upstream: None,
        peer: None,
        attempts: 0,
        decided_by: None,
        error: Some(Kind::BadRequest.word()),
        cause: Some(Escaped(without_fields(reason).as_bytes())),
        plugins: Vec::new(),
        attributes: Vec::new(),
    });
}
