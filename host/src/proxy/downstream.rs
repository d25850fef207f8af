//! The stream of a client's connection, in the clear or within TLS, with what the proxy knows of it. Pingora
//! reads and writes it, one request at a time; the requests of the connection find the knowledge in their session.

mod digests;
mod gate;
mod io;
mod pace;
mod transport;

#[cfg(fuzzing)]
pub(crate) mod fuzzing;

use std::any::Any;
use std::future::poll_fn;
use std::io::Result;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker, ready};
use std::time::Duration;

use bytes::BytesMut;
use pingora::http::ResponseHeader;
use pingora::protocols::http::ServerSession;
use pingora::protocols::raw_connect::ProxyDigest;
use tokio::io::{AsyncRead, BufWriter, ReadBuf};

use crate::config::model::ClientLimits;
use crate::listener::Listener;
use crate::plugin::exchange::TlsFacts;

use super::http1::Head;
use super::leave::Leave;

use gate::Gate;
use pace::Pace;

pub(crate) use gate::BadChunk;
pub(crate) use pace::Stalled;
pub(super) use transport::Transport;

/// Room for what a request's head usually has, in bytes.
const ROOM: usize = 4096;

/// What is kept back until it is flushed, in bytes: no more than goes into one segment.
const SEGMENT: usize = 1460;

/// What is known of a client's connection before its first request.
#[derive(Debug)]
pub(crate) struct Connection {
    /// What it came to.
    pub(crate) listener: Arc<Listener>,
    /// Who is at the other end.
    pub(crate) peer: SocketAddr,
    /// Nothing in the clear.
    pub(crate) tls: Option<Arc<TlsFacts>>,
    /// Which virtual host of the listener's TLS it has.
    pub(crate) host: usize,
    /// The end of the listener.
    pub(crate) leave: Leave,
    /// How long an upstream may take to switch protocols, in milliseconds.
    switch_wait: AtomicU64,
}

impl Connection {
    pub(super) fn new(
        listener: Arc<Listener>,
        peer: SocketAddr,
        tls: Option<Arc<TlsFacts>>,
        host: usize,
        leave: Leave,
    ) -> Self {
        Self { listener, peer, tls, host, leave, switch_wait: AtomicU64::new(u64::MAX) }
    }

    /// That of a request.
    pub(crate) fn of(session: &ServerSession) -> Option<Arc<Self>> {
        let known: &(dyn Any + Send + Sync) =
            session.digest()?.proxy_digest.as_ref()?.user_data.as_ref()?.as_ref();
        known.downcast_ref().cloned()
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Sets a limit to what the current request waits for a switch of protocols. The upstream's own limit can't
    /// be had for that: Pingora would hold the tunnel to it, too.
    pub(crate) fn expect_switch(&self, within: Duration) {
        let millis = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.switch_wait.store(millis, Ordering::Relaxed);
    }

    fn switch_wait(&self) -> Duration {
        Duration::from_millis(self.switch_wait.load(Ordering::Relaxed))
    }
}

/// A client's stream.
pub(super) struct Downstream {
    /// A head and a short body go out together: each write to the system is as dear as a plugin.
    transport: BufWriter<Transport>,
    connection: Arc<Connection>,
    /// Pingora's place for what belongs to a connection; its own use of it is on the other side of a proxy.
    known: Arc<ProxyDigest>,
    /// Read, and not yet part of a request that Pingora has.
    ahead: BytesMut,
    gate: Gate,
    /// The current request asks for another protocol: a 101 opens the gate.
    may_switch: bool,
    pace: Pace,
    /// Whoever waits for the gate to open.
    reader: Option<Waker>,
}

impl Downstream {
    /// `None` only if Pingora refuses status 200.
    pub(super) fn new(
        transport: Transport,
        connection: Arc<Connection>,
        limits: &ClientLimits,
    ) -> Option<Self> {
        let placeholder = ResponseHeader::build_no_case(200, Some(0)).ok()?;
        let known = ProxyDigest::new(Box::new(placeholder), Some(Box::new(Arc::clone(&connection))));
        Some(Self {
            transport: BufWriter::with_capacity(SEGMENT, transport),
            connection,
            known: Arc::new(known),
            ahead: BytesMut::new(),
            gate: Gate::Shut,
            may_switch: false,
            pace: Pace::new(limits),
            reader: None,
        })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What was read and is no part of a request yet.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// One more read: the number of bytes, 0 at the end.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) async fn fill(&mut self) -> Result<usize> {
        poll_fn(|cx| {
            // Not zeroed: that would cost more than the bytes of most reads.
            let mut piece = [const { MaybeUninit::uninit() }; ROOM];
            let mut piece = ReadBuf::uninit(&mut piece);
            ready!(Pin::new(&mut self.transport).poll_read(cx, &mut piece))?;
            self.ahead.extend_from_slice(piece.filled());
            Poll::Ready(Ok(piece.filled().len()))
        })
        .await
    }

    /// Takes a head out, and lets Pingora have the body behind it.
    pub(super) fn admit(&mut self, head: &Head) -> BytesMut {
        self.gate = Gate::of(head.body);
        self.may_switch = head.may_switch();
        if head.length == self.ahead.len() {
            // The common case, and no splitting: that would share the buffer, which costs.
            std::mem::take(&mut self.ahead)
        } else {
            self.ahead.split_to(head.length)
        }
    }

    /// Lets everything pass: what comes is no HTTP/1.
    pub(super) fn open(&mut self) {
        self.gate = Gate::Open;
    }

    /// Whether the last request was read to its end.
    pub(super) fn is_between_requests(&self) -> bool {
        self.gate == Gate::Shut
    }

    /// The time limits of what comes now.
    pub(super) fn limit(&mut self, limits: &ClientLimits) {
        self.pace.limit(limits);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read as _};

    use tokio::io::AsyncWriteExt as _;

    use super::*;
    use crate::config::model::ProxyProtocol;

    #[tokio::test]
    async fn a_head_goes_out_with_its_body() {
        let listening = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listening.local_addr().unwrap();
        let mut client = std::net::TcpStream::connect(address).unwrap();
        let (accepted, peer) = listening.accept().await.unwrap();
        let listener = Listener { address, h2: false, proxy_protocol: ProxyProtocol::Off, tls: None };
        let connection =
            Arc::new(Connection::new(Arc::new(listener), peer, None, 0, crate::proxy::farewell().1));
        let transport = Transport::Clear(Box::new(accepted.into()));
        let mut stream = Downstream::new(transport, connection, &ClientLimits::DEFAULT).unwrap();

        stream.write_all(b"head").await.unwrap();
        let mut bytes = [0; 16];
        client.set_nonblocking(true).unwrap();
        assert_eq!(client.read(&mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
        stream.write_all(b", body").await.unwrap();
        stream.flush().await.unwrap();
        client.set_nonblocking(false).unwrap();
        let count = client.read(&mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"head, body");
    }
}
