//! Clients that ask again and again while a test does something else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crate::client::{Ask, Connection};
use crate::message::Response;
use crate::wait::{DEADLINE, wait_for};

/// What one connection is good for: `limits.requests` of a listener, where nothing else is said.
const REQUESTS: usize = 10_000;

/// Clients at work, each on one connection that it gives up only after as many requests as one may have.
#[derive(Debug)]
pub struct Load {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    asked: AtomicUsize,
}

impl Load {
    /// Starts so many clients. Each response is handed to `check`, which panics where it is wrong.
    ///
    /// # Panics
    /// There is no thread for one.
    pub fn start(
        to: SocketAddr,
        clients: usize,
        ask: &Ask,
        check: impl Fn(&Response) + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::<Shared>::default();
        let check = Arc::new(check);
        let client = |_| {
            let (ask, shared, check) = (ask.clone(), Arc::clone(&shared), Arc::clone(&check));
            let work = move || {
                while !shared.stop.load(Ordering::SeqCst) {
                    let mut connection = Connection::open(to);
                    for _ in 0..REQUESTS {
                        if shared.stop.load(Ordering::SeqCst) {
                            break;
                        }
                        check(&connection.ask(&ask));
                        shared.asked.fetch_add(1, Ordering::SeqCst);
                    }
                }
            };
            Builder::new().name("client".to_owned()).spawn(work).expect("a thread")
        };
        let clients = (0..clients).map(client).collect();
        Self { shared, clients }
    }

    /// Waits until that many more requests were answered.
    pub fn wait_for(&self, more: usize) {
        let until = self.shared.asked.load(Ordering::SeqCst) + more;
        wait_for(DEADLINE, "clients to go on", || {
            // One that gave up has said why; there is nothing to wait for then.
            self.shared.asked.load(Ordering::SeqCst) >= until
                || self.clients.iter().any(JoinHandle::is_finished)
        });
    }

    /// Stops all of them, and says how many requests were answered.
    ///
    /// # Panics
    /// One of them found something wrong.
    pub fn stop(self) -> usize {
        self.shared.stop.store(true, Ordering::SeqCst);
        for client in self.clients {
            client.join().expect("every client is content");
        }
        self.shared.asked.load(Ordering::SeqCst)
    }
}
