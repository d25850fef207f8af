//! Active checks: asks each peer of the upstreams that want it whether it is well, in the background, and keeps what
//! came of it in the peer's state. Knows nothing of requests.

mod probe;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::config::model::Health;

use super::{Peer, Upstream, Upstreams};

use probe::Prober;

/// Checks that may be under way at once, over all upstreams: each has a connection of its own.
const MAX_AT_ONCE: usize = 64;

/// The part of an interval over which the checks of an upstream are spread, so that they don't come all at once, nor
/// from all proxies at once.
const SPREAD: f32 = 0.25;

/// Checks the peers of one generation's upstreams.
#[derive(Debug)]
pub struct Checks {
    upstreams: Vec<Arc<Upstream>>,
}

impl Checks {
    /// Checks nothing before it runs.
    pub fn new(upstreams: &Upstreams) -> Self {
        Self { upstreams: upstreams.iter().filter(|upstream| upstream.health().is_some()).cloned().collect() }
    }

    /// Checks until `shutdown`. On a Tokio runtime with time and I/O; dropping the future ends it too.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) {
        let shutdown = pin!(shutdown);
        if self.upstreams.is_empty() {
            return shutdown.await;
        }
        let prober = Arc::new(Prober::new());
        let places = Arc::new(Semaphore::new(MAX_AT_ONCE));
        let mut upstreams = JoinSet::new();
        for upstream in &self.upstreams {
            upstreams.spawn(watch(Arc::clone(upstream), Arc::clone(&prober), Arc::clone(&places)));
        }
        // Dropping the set ends them.
        shutdown.await;
    }
}

/// Checks the peers of an upstream, round after round.
async fn watch(upstream: Arc<Upstream>, prober: Arc<Prober>, places: Arc<Semaphore>) {
    let Some(health) = upstream.health().cloned().map(Arc::new) else { return };
    // The first round is what says where the first requests may go.
    let mut spread = Duration::ZERO;
    loop {
        let next = Instant::now() + health.interval;
        let mut round = JoinSet::new();
        for peer in upstream.peers() {
            let (upstream, health) = (Arc::clone(&upstream), Arc::clone(&health));
            let (prober, places) = (Arc::clone(&prober), Arc::clone(&places));
            let delay = spread.mul_f32(fastrand::f32());
            round.spawn(async move {
                sleep(delay).await;
                // It is never closed.
                let _place = places.acquire().await;
                check(&upstream, &peer, &health, &prober).await;
            });
        }
        // A check that panics is one that says nothing.
        while round.join_next().await.is_some() {}
        spread = health.interval.mul_f32(SPREAD);
        sleep_until(next).await;
    }
}

async fn check(upstream: &Upstream, peer: &Peer, health: &Health, prober: &Prober) {
    let outcome = match tokio::time::timeout(health.timeout, prober.probe(peer, health)).await {
        Ok(outcome) => outcome,
        Err(_) => Err("no answer in time".to_owned()),
    };
    let news = peer.state().check(outcome.is_ok(), health.healthy_after, health.unhealthy_after);
    let (upstream, peer) = (upstream.name(), peer.endpoint());
    match (news, outcome) {
        (true, Ok(())) => tracing::info!(%upstream, %peer, "peer is healthy again"),
        (true, Err(reason)) => tracing::warn!(%upstream, %peer, %reason, "peer is unhealthy: checks fail"),
        (false, _) => {}
    }
}

#[cfg(test)]
mod tests;
