//! Takes connections on the public listeners and hands them to the proxy. Not a listening service of Pingora's: that one
//! resets whoever has connected when the process ends, waits out of descriptors for a second, and repeats other errors
//! without a pause. Knows nothing of what is spoken.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use pingora::protocols::l4::stream::Stream;
use pingora::protocols::{GetSocketDigest as _, SocketDigest};
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use tokio::net::{TcpListener, TcpStream};

use crate::proxy::{Connections, Edge, Fresh, Standing};

use super::workers::Crew;

/// How long nothing is taken where nothing can be: descriptors come back with the requests that end.
const PAUSE: Duration = Duration::from_millis(50);

/// Lines of the log about that are so far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// The service of all public listeners. The thread that Pingora gives it does nothing but wait for the workers.
pub(super) struct Accepting {
    pub(super) crew: Crew,
    /// They listen; taken by the first start, which is the only one.
    pub(super) listeners: Vec<std::net::TcpListener>,
    /// Becomes true once connections are taken.
    pub(super) taking: Arc<AtomicBool>,
    pub(super) edge: Arc<Edge>,
    pub(super) connections: Connections,
}

#[async_trait]
impl Service for Accepting {
    async fn start_service(
        &mut self,
        _handed_over: Option<ListenFds>,
        shutdown: ShutdownWatch,
        _tasks_per_listener: usize,
    ) {
        let tasks: Vec<_> = std::mem::take(&mut self.listeners)
            .into_iter()
            .filter_map(|listener| {
                let (edge, fresh) = (Arc::clone(&self.edge), self.connections.fresh());
                // Each on some worker, as its connections.
                let listening = listen(listener, self.crew.clone(), edge, fresh, shutdown.clone());
                Some(self.crew.idlest()?.spawn(listening))
            })
            .collect();
        self.taking.store(true, Ordering::Release);
        for task in tasks {
            // One that panicked has told so.
            let _ = task.await;
        }
        self.edge.end().await;
    }

    fn name(&self) -> &str {
        "listeners"
    }

    fn threads(&self) -> Option<usize> {
        Some(1)
    }
}

/// Takes the connections of one listener until `shutdown`.
async fn listen(
    listener: std::net::TcpListener,
    crew: Crew,
    edge: Arc<Edge>,
    fresh: Fresh,
    shutdown: ShutdownWatch,
) {
    let ready = listener.local_addr().and_then(|address| Ok((address, TcpListener::from_std(listener)?)));
    let (address, listener) = match ready {
        Ok(ready) => ready,
        Err(error) => {
            tracing::error!(%error, "a listener is lost");
            return;
        }
    };
    let mut told = None;
    let mut stop = shutdown.clone();
    let stop = stop.wait_for(|stop| *stop);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            _ = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((connection, peer)) => take(&crew, &edge, connection, peer, &shutdown),
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                tell(&mut told, address, &error);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    // Whoever has connected by now, takes it for granted that it is served.
    let _ = take_rest(listener, &crew, &edge, &shutdown);
    drop(fresh);
}

fn take(crew: &Crew, edge: &Arc<Edge>, connection: TcpStream, peer: SocketAddr, shutdown: &ShutdownWatch) {
    // Counted here, and not by the worker that gets it: that may be busy, and descriptors go meanwhile.
    let place = edge.enter();
    if place.standing == Standing::Closed {
        edge.dismiss(connection);
        return;
    }
    // An error means that it is gone already, which whoever reads from it will find.
    let _ = connection.set_nodelay(true);
    let digest = SocketDigest::from_raw_fd(connection.as_raw_fd());
    let _ = digest.peer_addr.set(Some(peer.into()));
    let Some(worker) = crew.idlest() else { return };
    let handed = if worker.is_this() { Handed::Here(connection) } else { Handed::over(connection) };
    let (edge, shutdown) = (Arc::clone(edge), shutdown.clone());
    let fresh = edge.fresh();
    worker.spawn(async move {
        // An error means that the worker has no room for one more; the connection is closed.
        let Ok(connection) = handed.arrive() else { return };
        let mut stream = Stream::from(connection);
        stream.set_socket_digest(digest);
        edge.take(stream, place, fresh, &shutdown).await;
    });
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

/// Takes what waits, and closes the listener.
fn take_rest(listener: TcpListener, crew: &Crew, edge: &Arc<Edge>, shutdown: &ShutdownWatch) -> Result<()> {
    // Not by the runtime, which may not have heard of the last ones.
    let listener = listener.into_std()?;
    loop {
        let (connection, peer) = listener.accept()?;
        connection.set_nonblocking(true)?;
        take(crew, edge, TcpStream::from_std(connection)?, peer, shutdown);
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
