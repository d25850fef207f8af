//! The end of the process: on SIGTERM or SIGINT it takes no more connections, finishes the requests it has
//! within the grace period, flushes its logs and exits with 0. A second signal ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch, ShutdownWatch};
use pingora::services::background::BackgroundService;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::control::health::Health;
use crate::observe::logging;
use crate::proxy::{Connections, Requests};
use crate::snapshot::Generation;

/// How long the end of the process waits for whoever reads a log.
const FLUSH: Duration = Duration::from_secs(1);

/// Between two looks at what is in flight.
const LOOK: Duration = Duration::from_millis(5);

/// Connections that were just made are waited for so long at most.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Requests that are cut are gone within this.
const TAKEN_DOWN: Duration = Duration::from_millis(500);

/// Waits for the first signal. (Pingora's own watch also knows SIGQUIT, which would hand the listeners to a
/// new process.)
pub(super) struct Signals {
    pub(super) requests: Requests,
    pub(super) health: Health,
    /// Between the signal and the end of the listeners.
    pub(super) delay: Duration,
    /// Told of the next signal after those.
    pub(super) again: Arc<Notify>,
    /// Set once a signal is waited for: before that, one would kill the process where it stands.
    pub(super) heard: Arc<AtomicBool>,
}

#[async_trait]
impl ShutdownSignalWatch for Signals {
    async fn recv(&self) -> ShutdownSignal {
        let Some(mut incoming) = Incoming::listen() else { return std::future::pending().await };
        self.heard.store(true, Ordering::Release);
        let signal = incoming.next().await;
        tracing::info!(signal, "shutting down");
        // Balancers and clients learn of it while everything is still served: a client that is told `close`
        // loses nothing, one whose idle connection ends as it sends does.
        self.health.drains();
        self.requests.drain();
        tokio::select! {
            () = tokio::time::sleep(self.delay) => {}
            _ = incoming.next() => {}
        }
        // Heard without a gap, however late `Drain` begins to ask.
        let again = Arc::clone(&self.again);
        tokio::spawn(async move {
            incoming.next().await;
            again.notify_one();
        });
        ShutdownSignal::GracefulTerminate
    }
}

/// The signals that end the process.
struct Incoming {
    term: Signal,
    int: Signal,
}

impl Incoming {
    /// Each signal from now on is kept until it is asked for. `None` where the process can't listen to signals.
    fn listen() -> Option<Self> {
        Some(Self { term: signal(SignalKind::terminate()).ok()?, int: signal(SignalKind::interrupt()).ok()? })
    }

    /// The name of the next one.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.term.recv() => "SIGTERM",
            _ = self.int.recv() => "SIGINT",
        }
    }
}

/// Ends the process as soon as nothing is in flight. What is still there when the grace period ends, Pingora
/// cuts by taking its workers down; the access log has a line of each.
pub(super) struct Drain {
    pub(super) grace: Duration,
    /// Told of a signal that ends the process at once.
    pub(super) again: Arc<Notify>,
    pub(super) requests: Requests,
    pub(super) connections: Connections,
    pub(super) generation: Arc<ArcSwap<Generation>>,
    pub(super) health: Health,
}

#[async_trait]
impl BackgroundService for Drain {
    async fn start(&self, mut shutdown: ShutdownWatch) {
        // An error means that the server is gone: then there is nothing to wait for either.
        let _ = shutdown.wait_for(|stop| *stop).await;
        self.health.drains();
        let began = Instant::now();
        let until = began + self.grace;
        // The listeners close on the same signal: a request that comes on a connection of before has some looks' time.
        let mut quiet = 0;
        while quiet < 4 {
            let now = Instant::now();
            if now >= until && self.requests.count() > 0 {
                return;
            }
            let fresh = self.connections.any_fresh() && now < (began + FIRST_REQUEST).min(until);
            quiet = if self.requests.count() == 0 && !fresh { quiet + 1 } else { 0 };
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.again.notified() => break,
            }
        }
        // Pingora's grace began a little earlier: its workers may be down already.
        say_cut(&self.requests);
        flush(&self.generation);
        std::process::exit(0)
    }
}

/// Says how many requests were cut, once they were.
pub(super) fn tell_cut(requests: &Requests) {
    // Their workers take them down side by side with this.
    let until = Instant::now() + TAKEN_DOWN;
    while requests.count() > 0 && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    say_cut(requests);
}

/// Once for each request, whoever asks.
fn say_cut(requests: &Requests) {
    let requests = requests.take_cut();
    if requests > 0 {
        tracing::warn!(requests, "requests were cut: the grace period is over");
    }
}

/// Has the logs written, as long as somebody takes them.
pub(super) fn flush(generation: &ArcSwap<Generation>) {
    if let Some(log) = &generation.load().access_log {
        log.flush(FLUSH);
    }
    logging::flush(FLUSH);
}
