//! A connection before its first request: which protocols its listener speaks, and who is at the other end.
//! Also the log line for requests that Pingora refuses before any hook of a request runs.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use pingora::apps::{HttpServerApp, HttpServerOptions, ReusedHttpStream, ServerApp};
use pingora::protocols::Stream;
use pingora::protocols::http::ServerSession;
use pingora::protocols::l4::socket;
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;

use crate::observe::access_log::{AccessLog, Escaped, Record};

use super::EdgeProxy;
use super::failure::Kind;
use super::preface;

tokio::task_local! {
    /// The client of the connection whose task is running.
    static CLIENT: Option<SocketAddr>;
}

/// Takes the connections of all public listeners.
pub struct Edge {
    http1: Arc<HttpProxy<EdgeProxy>>,
    http2: Arc<Http2>,
    /// Listeners that take HTTP/2 with prior knowledge beside HTTP/1.
    http2_listeners: Vec<SocketAddr>,
}

impl Edge {
    pub fn new(proxy: HttpProxy<EdgeProxy>, http2_listeners: Vec<SocketAddr>) -> Self {
        let http1 = Arc::new(proxy);
        let mut options = HttpServerOptions::default();
        options.h2c = true;
        let http2 = Arc::new(Http2 { proxy: Arc::clone(&http1), options });
        Self { http1, http2, http2_listeners }
    }

    fn speaks_http2(&self, stream: &Stream) -> bool {
        if self.http2_listeners.is_empty() {
            return false;
        }
        let digest = stream.get_socket_digest();
        let Some(socket::SocketAddr::Inet(local)) = digest.as_ref().and_then(|digest| digest.local_addr())
        else {
            return false;
        };
        self.http2_listeners.iter().any(|listener| {
            listener.port() == local.port() && (listener.ip().is_unspecified() || listener.ip() == local.ip())
        })
    }
}

#[async_trait]
impl ServerApp for Edge {
    async fn process_new(self: &Arc<Self>, stream: Stream, shutdown: &ShutdownWatch) -> Option<Stream> {
        let digest = stream.get_socket_digest();
        let client = match digest.as_ref().and_then(|digest| digest.peer_addr()) {
            Some(socket::SocketAddr::Inet(address)) => Some(*address),
            _ => None,
        };
        let (stream, http2) =
            if self.speaks_http2(&stream) { preface::read(stream).await? } else { (stream, false) };
        if http2 {
            CLIENT.scope(client, self.http2.process_new(stream, shutdown)).await
        } else {
            CLIENT.scope(client, self.http1.process_new(stream, shutdown)).await
        }
    }

    async fn cleanup(&self) {
        self.http1.http_cleanup().await;
    }
}

/// The same proxy with cleartext HTTP/2 turned on: Pingora asks the application, not the listener.
struct Http2 {
    proxy: Arc<HttpProxy<EdgeProxy>>,
    options: HttpServerOptions,
}

#[async_trait]
impl HttpServerApp for Http2 {
    async fn process_new_http(
        self: &Arc<Self>,
        session: ServerSession,
        shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        self.proxy.process_new_http(session, shutdown).await
    }

    fn server_options(&self) -> Option<&HttpServerOptions> {
        Some(&self.options)
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
    let client = CLIENT.try_with(|client| client.map(|address| address.ip())).ok().flatten();
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
