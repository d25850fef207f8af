//! A connection before its first request: which protocols its listener speaks, and who is at the other end.
//! Also the log line for what the libraries refuse before any hook of a request runs.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use pingora::apps::{HttpServerApp as _, ServerApp as _};
use pingora::protocols::l4::stream::Stream as TcpStream;
use pingora::protocols::{ALPN, Ssl};
use pingora::proxy::HttpProxy;

use crate::config::model::ProxyProtocol;
use crate::listener::Listener;
use crate::observe::access_log::{Escaped, Record};
use crate::observe::refusals::{Answer, Refusal};
use crate::snapshot::Generation;

use super::EdgeProxy;
use super::connections::{Connections, Fresh, Place, Standing};
use super::downstream::{Connection, Downstream, Transport};
use super::failure::Kind;
use super::http1::Http1;
use super::http2::Http2;
use super::leave::Leave;
use super::{forwarded, handshake, preface, proxy_protocol};

/// What a connection is told that nobody has room for.
const DISMISSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

tokio::task_local! {
    /// The client of the connection whose task is running.
    static CLIENT: SocketAddr;
}

/// A connection that was just made.
pub(crate) struct Arrival {
    /// What it came to.
    pub(crate) listener: Arc<Listener>,
    /// From where.
    pub(crate) peer: SocketAddr,
    /// The end of the listener.
    pub(crate) leave: Leave,
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

    /// The listener of that address, as the configuration that serves has it.
    pub fn listener(&self, address: SocketAddr) -> Option<Arc<Listener>> {
        self.http1.generation.load().listeners.of(address).cloned()
    }

    /// Ends a connection that there is no room for: without a look at what is asked for, and without waiting.
    pub(crate) fn dismiss(&self, connection: tokio::net::TcpStream, listener: &Listener) {
        let Ok(mut connection) = connection.into_std() else { return };
        if answers(listener) {
            // A client that does not take it is told nothing, as others are not.
            let _ = connection.write(DISMISSAL);
            // What is unread at the end resets the connection, and the client may never see the answer.
            let _ = connection.read(&mut [0; 4096]);
        }
    }

    /// Serves a connection to its end, or turns it away where there are too many.
    pub(crate) async fn take(&self, stream: TcpStream, arrival: Arrival, place: Place, fresh: Fresh) {
        match place.standing {
            Standing::Served => {
                CLIENT.scope(arrival.peer, self.serve(stream, arrival, fresh)).await;
            }
            Standing::Told => self.turn_away(stream, arrival).await,
            Standing::Closed => {}
        }
    }

    /// Before the process ends.
    pub async fn end(&self) {
        self.http1.proxy.http_cleanup().await;
    }

    async fn turn_away(&self, stream: TcpStream, Arrival { listener, peer, leave }: Arrival) {
        if !answers(&listener) {
            return;
        }
        let limits = self.http1.generation.load().policy.limits;
        let connection = Arc::new(Connection::new(listener, peer, None, 0, leave));
        if let Some(stream) = Downstream::new(Transport::Clear(Box::new(stream)), connection, &limits) {
            self.http1.turn_away(Box::new(stream)).await;
        }
    }

    /// `None`: the connection came to its end before a request.
    async fn serve(&self, mut stream: TcpStream, arrival: Arrival, fresh: Fresh) -> Option<()> {
        let Arrival { listener, mut peer, leave } = arrival;
        let generation = self.http1.generation.load_full();
        let limits = generation.policy.limits;
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
        let connection = Arc::new(Connection::new(listener, peer, tls, host, leave.clone()));
        let mut stream = Box::new(Downstream::new(transport, connection, &limits)?);
        let http2 = match stream.selected_alpn_proto() {
            Some(protocol) => matches!(protocol, ALPN::H2),
            None => by_preface && preface::comes(&mut stream, &limits).await?,
        };
        if http2 {
            stream.open();
            drop(fresh);
            let proxy = Arc::clone(&self.http1.proxy);
            Arc::new(Http2::new(proxy, limits)).process_new(stream, leave.over()).await;
        } else {
            self.http1.serve(stream, fresh, leave.over()).await;
        }
        Some(())
    }
}

/// Whether those who are too many are told so: only HTTP in the clear can be answered without more work than it would be
/// to serve it.
fn answers(listener: &Listener) -> bool {
    listener.tls.is_none() && listener.proxy_protocol == ProxyProtocol::Off
}

/// Pingora's reason, with no more of the request in it than its first line: fields hold secrets.
fn without_fields(reason: &str) -> &str {
    let Some(start) = reason.find("buf: ") else { return reason };
    let end = reason.get(start..).and_then(|buffer| buffer.find('\\').map(|end| start + end));
    // A first line without an end may hold anything.
    reason.get(..end.unwrap_or(start)).unwrap_or(reason)
}

/// Of a reason, the log has this many bytes: it may hold what the client sent.
const MAX_REASON: usize = 256;

/// Takes note of what a library refused by itself: it knows the reason, and the connection's task knows the client.
pub fn log_refused(generation: &Generation, refusal: Refusal<'_>) {
    let client = CLIENT.try_with(SocketAddr::ip).ok();
    let (kind, status) = match refusal.answer {
        Answer::BadRequest => (Kind::BadRequest, 400),
        // An upstream's connection, of which the same is said.
        _ if client.is_none() => return,
        Answer::HeadersTooLarge => (Kind::HeadersTooLarge, 431),
        Answer::Reset | Answer::Ended => (Kind::BadRequest, 0),
    };
    // A connection that ends is no request.
    if refusal.answer != Answer::Ended {
        generation.unrouted.observe(status, Duration::ZERO);
    }
    let Some(log) = &generation.access_log else { return };
    let reason = without_fields(refusal.reason);
    let reason = reason.as_bytes().get(..MAX_REASON).unwrap_or(reason.as_bytes());
    log.write(&Record {
        time: std::time::SystemTime::now(),
        request_id: None,
        client,
        method: None,
        host: None,
        target: None,
        protocol: (refusal.answer != Answer::BadRequest).then_some("HTTP/2"),
        status,
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
        error: Some(kind.word()),
        cause: Some(Escaped(reason)),
        plugins: Vec::new(),
        attributes: Vec::new(),
    });
}
