//! Origins: HTTP/1.1 servers that do what a test says and keep what they were sent.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketType};

use crate::message::Received;
use crate::ports::free_address;
use crate::wait::{DEADLINE, wait_for};
use crate::wire::Wire;

/// What an origin answers where the test doesn't care.
pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

type Script = dyn Fn(Received, &mut Wire) -> io::Result<()> + Send + Sync;

/// A server on loopback. Stops when it is dropped.
pub struct Origin {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    closed: AtomicUsize,
    stopped: AtomicBool,
}

impl Origin {
    /// Answers [`OK`] to everything.
    pub fn ok() -> Self {
        Self::reply(OK)
    }

    /// Answers the same bytes to everything.
    pub fn reply(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref().to_vec();
        Self::answer(move |_| bytes.clone())
    }

    /// Answers 200 with this body to everything.
    pub fn body(body: &str) -> Self {
        Self::reply(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    }

    /// Answers what the closure makes of the request.
    pub fn answer(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::script(move |received, wire| wire.send(&answer(&received)))
    }

    /// Reads each request and lets the closure do what it likes with the connection, which is closed
    /// where it returns an error.
    pub fn script(script: impl Fn(Received, &mut Wire) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").expect("a free port"), Box::new(script))
    }

    /// Answers [`OK`] at this address.
    pub fn ok_at(address: SocketAddr) -> Self {
        let script = |_, wire: &mut Wire| wire.send(OK.as_bytes());
        Self::at(TcpListener::bind(address).expect("a free port"), Box::new(script))
    }

    fn at(listener: TcpListener, script: Box<Script>) -> Self {
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            script,
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let accept = move || {
            while let Ok((stream, _)) = listener.accept() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let number = accepting.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let serving = Arc::clone(&accepting);
                start("origin connection", move || serving.serve(stream, number));
            }
        };
        start("origin", accept);
        Self { address, shared }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that arrived whole, in order.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last request.
    ///
    /// # Panics
    /// There was none.
    pub fn last(&self) -> Received {
        self.requests().pop().expect("the origin was asked")
    }

    /// How many connections it took.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many connections it took that are over.
    pub fn closed(&self) -> usize {
        self.shared.closed.load(Ordering::SeqCst)
    }

    /// Waits until that many requests arrived.
    pub fn wait_for_requests(&self, count: usize) {
        wait_for(DEADLINE, &format!("{count} requests at the origin"), || self.requests().len() >= count);
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream, connection: usize) {
        // A connection that breaks is the test's to notice, from the other end.
        let _ = self.exchange(stream, connection);
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn exchange(&self, stream: TcpStream, connection: usize) -> io::Result<()> {
        let mut wire = Wire::new(stream)?;
        // The proxy keeps idle connections for as long as it likes.
        wire.patience(None);
        while let Some(head) = wire.head()? {
            let framing = head.framing();
            let body = wire.body(framing)?;
            let received = Received { head, body, framing, connection };
            self.received.lock().unwrap_or_else(PoisonError::into_inner).push(received.clone());
            (self.script)(received, &mut wire)?;
        }
        Ok(())
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the accept loop, so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({})", self.address)
    }
}

/// An address that refuses every connection.
pub fn nobody() -> SocketAddr {
    free_address()
}

/// A peer that takes no connection and refuses none: what asks for one has no answer.
#[derive(Debug)]
pub struct BlackHole {
    address: SocketAddr,
    /// Fills what the system takes by itself.
    _waiting: (OwnedFd, Vec<TcpStream>),
}

impl Default for BlackHole {
    fn default() -> Self {
        Self::new()
    }
}

impl BlackHole {
    /// # Panics
    /// The system takes connections without end.
    pub fn new() -> Self {
        let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
        net::listen(&socket, 0).expect("a listener");
        let name = net::getsockname(&socket).expect("an address");
        let address = SocketAddr::try_from(name).expect("an address of IP");
        let mut waiting = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            waiting.push(stream);
            assert!(waiting.len() < 100, "it takes connections");
        }
        Self { address, _waiting: (socket, waiting) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Holds scripts back until a test opens it.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open, or [`DEADLINE`].
    pub fn pass(&self) {
        let open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.0.1.wait_timeout_while(open, DEADLINE, |open| !*open);
    }
}

/// A named thread that is left to end by itself.
pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.to_owned()).spawn(work).expect("a thread");
}
