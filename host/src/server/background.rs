//! Services beside the listeners: the resolver, the admin address, and the look whether all of it is up.

use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use pingora::apps::ServerApp;
use pingora::apps::http_app::HttpServer;
use pingora::protocols::l4::stream::Stream;
use pingora::protocols::{GetSocketDigest as _, SocketDigest};
use pingora::server::ShutdownWatch;
use pingora::services::ServiceReadyNotifier;
use pingora::services::background::BackgroundService;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::control::admin::Admin;
use crate::control::health::Health;
use crate::upstream::Resolver;

use super::descriptors::Spare;

/// The listeners wait this long for the first answers, so that a proxy that says it is ready can serve. A
/// name that takes longer costs its own upstream some 503s, nobody else anything.
const FIRST_ANSWERS: Duration = Duration::from_secs(1);

/// Keeps the peers of the latest generation resolved and checked.
pub(super) struct Resolving(pub(super) watch::Receiver<Arc<Resolver>>);

#[async_trait]
impl BackgroundService for Resolving {
    async fn start_with_ready_notifier(&self, mut shutdown: ShutdownWatch, ready: ServiceReadyNotifier) {
        let mut current = self.0.clone();
        let resolver = Arc::clone(&current.borrow_and_update());
        let first = async {
            let missing = resolver.first_round(FIRST_ANSWERS).await;
            if missing > 0 {
                tracing::warn!(
                    names = missing,
                    "names have no answer yet: their upstreams answer 503 until then"
                );
            }
            ready.notify_ready();
        };
        let keep = async {
            let mut resolver = Arc::clone(&resolver);
            loop {
                tokio::select! {
                    // An error means that the server is gone, which is a stop, too.
                    _ = shutdown.wait_for(|stop| *stop) => return,
                    // An earlier one ends here: what it knows, the next one has taken over.
                    Ok(()) = current.changed() => resolver = Arc::clone(&current.borrow_and_update()),
                    _ = async {
                        let forever = std::future::pending;
                        tokio::join!(resolver.run(forever()), resolver.checks().run(forever()))
                    } => return,
                }
            }
        };
        tokio::join!(first, keep);
    }
}

/// Serves the admin address. Not a listening service of Pingora's, which would close with the public listeners:
/// an operator wants to see how a proxy drains.
pub(super) struct AdminListener {
    /// It listens; taken by the first start, which is the only one.
    listener: Mutex<Option<std::net::TcpListener>>,
    app: Arc<HttpServer<Admin>>,
    /// Never says stop.
    _run: watch::Sender<bool>,
    running: watch::Receiver<bool>,
}

impl AdminListener {
    pub(super) fn new(listener: std::net::TcpListener, admin: Admin) -> Self {
        let (_run, running) = watch::channel(false);
        let listener = Mutex::new(Some(listener));
        Self { listener, app: Arc::new(HttpServer::new_app(admin)), _run, running }
    }
}

#[async_trait]
impl BackgroundService for AdminListener {
    async fn start(&self, _shutdown: ShutdownWatch) {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let listener = match listener.map(TcpListener::from_std) {
            Some(Ok(listener)) => listener,
            Some(Err(error)) => {
                tracing::error!(%error, "the admin address is lost");
                return;
            }
            None => return,
        };
        let spare = Arc::new(Spare::keep());
        loop {
            match listener.accept().await {
                Ok((connection, _)) => {
                    spare.refill();
                    let spare = Arc::clone(&spare);
                    let (app, running) = (Arc::clone(&self.app), self.running.clone());
                    let digest = SocketDigest::from_raw_fd(connection.as_raw_fd());
                    let mut stream = Stream::from(connection);
                    // Who is at the other end decides what may be asked.
                    stream.set_socket_digest(digest);
                    tokio::spawn(async move {
                        app.process_new(Box::new(stream), &running).await;
                        spare.refill();
                    });
                }
                // Out of descriptors, most likely: the next attempt may have the one that was kept for it.
                Err(_) if spare.give_up() => {}
                // They come back.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    spare.refill();
                }
            }
        }
    }
}

/// Says that the proxy is ready once all that makes it so has begun.
pub(super) struct Readiness {
    /// Connections are taken, SIGTERM ends the process in order, and SIGHUP does not end it.
    pub(super) begun: [Arc<AtomicBool>; 3],
    pub(super) health: Health,
}

#[async_trait]
impl BackgroundService for Readiness {
    async fn start(&self, _shutdown: ShutdownWatch) {
        while !self.begun.iter().all(|begun| begun.load(Ordering::Acquire)) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.health.becomes_ready();
        tracing::info!("ready");
    }
}
