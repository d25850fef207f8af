//! Takes the connections of a listener and hands them to workers. Knows nothing of what is spoken.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pingora::protocols::l4::stream::Stream;
use pingora::protocols::{GetSocketDigest as _, SocketDigest};
use pingora::server::ShutdownWatch;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::listener::Listener;
use crate::proxy::{Arrival, Edge, Leave, Standing, farewell};

use super::workers::Crew;

/// How long nothing is taken where nothing can be: descriptors come back with the requests that end.
const PAUSE: Duration = Duration::from_millis(50);

/// Lines of the log about that are so far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// What all listeners share. Cheap to clone.
#[derive(Clone)]
pub(super) struct Reception {
    pub(super) crew: Crew,
    pub(super) edge: Arc<Edge>,
    /// How long connections of a listener that is closed are told that they end, before those end that are idle.
    pub(super) delay: Duration,
}

/// Why nothing more is taken.
enum End {
    Listener,
    Process,
}

impl Reception {
    /// Takes connections to `address` on some worker, as its connections are, until `closed` is dropped at its other
    /// end or `shutdown` is true. `None` without workers.
    pub(super) fn open(
        &self,
        address: SocketAddr,
        socket: std::net::TcpListener,
        closed: oneshot::Receiver<()>,
        shutdown: ShutdownWatch,
    ) -> Option<JoinHandle<()>> {
        // From now on: the end of the process waits for who has connected, too.
        let fresh = self.edge.fresh();
        let reception = self.clone();
        Some(self.crew.idlest()?.spawn(async move {
            let ready =
                TcpListener::from_std(socket).map(|socket| (socket, reception.edge.listener(address)));
            let (socket, listener) = match ready {
                Ok((socket, Some(listener))) => (socket, listener),
                Ok((_, None)) => return tracing::error!(%address, "no generation has this listener"),
                Err(error) => return tracing::error!(%address, %error, "a listener is lost"),
            };
            reception.listen(socket, listener, closed, shutdown).await;
            drop(fresh);
        }))
    }

    async fn listen(
        self,
        socket: TcpListener,
        mut listener: Arc<Listener>,
        closed: oneshot::Receiver<()>,
        mut shutdown: ShutdownWatch,
    ) {
        let address = listener.address;
        let (farewell, leave) = farewell();
        let mut told = None;
        let mut stop = shutdown.clone();
        let stop = async {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => End::Process,
                _ = closed => End::Listener,
            }
        };
        tokio::pin!(stop);
        let end = loop {
            let accepted = tokio::select! {
                biased;
                end = &mut stop => break end,
                accepted = socket.accept() => accepted,
            };
            match accepted {
                Ok((connection, peer)) => {
                    // Where the configuration has it no more, it is as it was.
                    listener = self.edge.listener(address).unwrap_or(listener);
                    self.take(connection, peer, &listener, &leave);
                }
                Err(error) if is_of_connection(&error) => {}
                Err(error) => {
                    tell(&mut told, address, &error);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        farewell.announce();
        if matches!(end, End::Process) {
            farewell.end();
        }
        // Whoever has connected by now, takes it for granted that it is served.
        let _ = self.take_rest(socket, &listener, &leave);
        tokio::select! {
            () = tokio::time::sleep(self.delay) => {}
            _ = shutdown.wait_for(|stop| *stop) => {}
        }
        farewell.end();
    }

    fn take(&self, connection: TcpStream, peer: SocketAddr, listener: &Arc<Listener>, leave: &Leave) {
        let edge = &self.edge;
        // Counted here, and not by the worker that gets it: that may be busy, and descriptors go meanwhile.
        let place = edge.enter();
        if place.standing == Standing::Closed {
            edge.dismiss(connection, listener);
            return;
        }
        // An error means that it is gone already, which whoever reads from it will find.
        let _ = connection.set_nodelay(true);
        let digest = SocketDigest::from_raw_fd(connection.as_raw_fd());
        let _ = digest.peer_addr.set(Some(peer.into()));
        let Some(worker) = self.crew.idlest() else { return };
        let handed = if worker.is_this() { Handed::Here(connection) } else { Handed::over(connection) };
        let arrival = Arrival { listener: Arc::clone(listener), peer, leave: leave.clone() };
        let (edge, fresh) = (Arc::clone(edge), edge.fresh());
        worker.spawn(async move {
            // An error means that the worker has no room for one more; the connection is closed.
            let Ok(connection) = handed.arrive() else { return };
            let mut stream = Stream::from(connection);
            stream.set_socket_digest(digest);
            edge.take(stream, arrival, place, fresh).await;
        });
    }

    /// Takes what waits, and closes the listener.
    fn take_rest(&self, socket: TcpListener, listener: &Arc<Listener>, leave: &Leave) -> Result<()> {
        // Not by the runtime, which may not have heard of the last ones.
        let socket = socket.into_std()?;
        loop {
            let (connection, peer) = socket.accept()?;
            connection.set_nonblocking(true)?;
            self.take(TcpStream::from_std(connection)?, peer, listener, leave);
        }
    }
}

/// A connection on its way to its worker, which is to be the one that the kernel wakes for it.
enum Handed {
    Here(TcpStream),
    Over(Result<std::net::TcpStream>),
}

impl Handed {
    fn over(connection: TcpStream) -> Self {
        Self::Over(connection.into_std())
    }

    /// Called by its worker.
    fn arrive(self) -> Result<TcpStream> {
        match self {
            Self::Here(connection) => Ok(connection),
            Self::Over(connection) => TcpStream::from_std(connection?),
        }
    }
}

/// An error of the connection that would have been taken: the next one is another.
fn is_of_connection(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionRefused
            | ErrorKind::Interrupted
    )
}

fn tell(told: &mut Option<Instant>, address: SocketAddr, error: &Error) {
    let now = Instant::now();
    if told.is_none_or(|told| now.duration_since(told) >= BETWEEN_LINES) {
        *told = Some(now);
        tracing::error!(%address, %error, "no connections can be taken for now");
    }
}
