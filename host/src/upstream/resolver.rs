//! Keeps the peers of names current: one task that asks DNS when an answer is due and publishes what
//! changed. Knows nothing of requests.

#[cfg(test)]
mod fake_dns;
mod lookup;
pub(super) mod service;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::model::Dns;

use super::Checks;
use super::metrics::UpstreamMetrics;
use super::name::{Family, Outcome, Standing, Timing};
use super::set::{Refreshed, Upstream, Upstreams};
use super::source::{NameKind, ResolvedName};

pub(super) use lookup::Servers;

/// Look-ups that may be under way at once: each has a socket of its own.
const MAX_LOOKUPS: usize = 64;

/// Resolves the names of one generation's upstreams.
#[derive(Debug)]
pub struct Resolver {
    names: Vec<Watched>,
    dns: Dns,
    timing: Timing,
    metrics: UpstreamMetrics,
    checks: Checks,
    /// Names that had no answer or failure yet.
    pending: watch::Sender<usize>,
}

/// A name and the upstreams that have it.
#[derive(Debug)]
struct Watched {
    name: Arc<ResolvedName>,
    users: Vec<Arc<Upstream>>,
}

/// One kind of records of one name: what is asked for, never twice at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    /// Place in `Resolver::names`.
    name: usize,
    family: Family,
}

impl Resolver {
    /// A resolver for the names of these upstreams. Asks nothing before it runs.
    pub fn new(upstreams: &Arc<Upstreams>, dns: &Dns, metrics: UpstreamMetrics) -> Self {
        metrics.show(upstreams);
        let names: Vec<_> = upstreams
            .names()
            .iter()
            .map(|name| Watched {
                name: Arc::clone(name),
                users: upstreams.iter().filter(|upstream| upstream.uses(name)).cloned().collect(),
            })
            .collect();
        let pending = names.iter().filter(|watched| !watched.name.answer.load().is_settled()).count();
        let timing =
            Timing { min_ttl: dns.min_ttl, max_ttl: dns.max_ttl, retry: dns.retry, stale_max: dns.stale_max };
        let checks = Checks::new(upstreams);
        Self { names, dns: dns.clone(), timing, metrics, checks, pending: watch::Sender::new(pending) }
    }

    /// Resolves until `shutdown`. One call per resolver, on a Tokio runtime with time and I/O; dropping
    /// the future ends it too.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        if self.names.is_empty() {
            return shutdown.await;
        }
        let servers = Arc::new(Servers::of(&self.dns));
        let start = Instant::now();
        let mut agenda: Agenda = (0..self.names.len())
            .flat_map(|name| self.families(name).iter().map(move |family| Question { name, family: *family }))
            .map(|question| Reverse((start, question)))
            .collect();
        let mut lookups = JoinSet::new();
        let mut asked = HashMap::new();
        loop {
            let now = Instant::now();
            while lookups.len() < MAX_LOOKUPS
                && let Some(question) = take_due(&mut agenda, now)
            {
                let Some(watched) = self.names.get(question.name) else { continue };
                let (servers, name) = (Arc::clone(&servers), Arc::clone(&watched.name.text));
                let task = lookups.spawn(async move {
                    match question.family {
                        Family::Service => service::ask(&servers, &name).await,
                        family => servers.ask(&name, family).await,
                    }
                });
                asked.insert(task.id(), question);
            }
            // With every place taken, the next thing to happen is an answer.
            let next = agenda.peek().filter(|_| lookups.len() < MAX_LOOKUPS).map(|Reverse((due, _))| *due);
            tokio::select! {
                () = &mut shutdown => return,
                Some(done) = lookups.join_next_with_id(), if !lookups.is_empty() => {
                    let (id, outcome) = match done {
                        Ok((id, outcome)) => (id, outcome),
                        // The DNS library panicked on an answer: as bad as no answer.
                        Err(error) => (error.id(), Outcome::Failed(error.to_string())),
                    };
                    if let Some(question) = asked.remove(&id) {
                        let delay = self.settle(question, &outcome);
                        agenda.push(Reverse((Instant::now() + delay, question)));
                    }
                }
                () = sleep_until(next), if next.is_some() => {}
            }
        }
    }

    /// The checks of the same upstreams' peers.
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// What a name is asked for.
    fn families(&self, name: usize) -> &'static [Family] {
        match self.names.get(name).map(|watched| watched.name.kind) {
            Some(NameKind::Service) => &[Family::Service],
            _ => &[Family::V4, Family::V6],
        }
    }

    /// Waits until every name had a first answer or failure, at most for `limit`. Says how many names had
    /// none by then.
    pub async fn first_round(&self, limit: Duration) -> usize {
        let mut pending = self.pending.subscribe();
        // Both ways of ending early leave the count as the answer.
        let _ = tokio::time::timeout(limit, pending.wait_for(|count| *count == 0)).await;
        *pending.borrow()
    }

    /// Takes in what a look-up brought; says how long until the next one.
    fn settle(&self, question: Question, outcome: &Outcome) -> Duration {
        let Some(watched) = self.names.get(question.name) else { return self.timing.retry };
        self.metrics.count_lookup(&watched.name.text, outcome.name());
        let before = watched.name.answer.load_full();
        let (after, delay) = before.after(question.family, outcome, Instant::now(), &self.timing);
        let (was, is) = (before.standing(), after.standing());
        if !before.is_settled() && after.is_settled() {
            self.pending.send_modify(|count| *count = count.saturating_sub(1));
        }
        watched.name.answer.store(Arc::new(after));
        watched.publish(&self.metrics);
        if was != is {
            watched.tell(is, outcome);
        }
        delay
    }
}

impl Watched {
    fn publish(&self, metrics: &UpstreamMetrics) {
        for upstream in &self.users {
            if upstream.refresh() == Refreshed::Changed {
                let peers = upstream.peers();
                metrics.set_peers(upstream.name(), peers.len());
                let addresses: Vec<_> = peers.iter().map(|peer| peer.endpoint().to_string()).collect();
                tracing::info!(
                    upstream = %upstream.name(),
                    name = %self.name.text,
                    peers = ?addresses,
                    "peers of the upstream changed"
                );
            }
        }
    }

    fn tell(&self, standing: Standing, outcome: &Outcome) {
        let error = match outcome {
            Outcome::Failed(error) | Outcome::Service { missing: Some(error), .. } => error.as_str(),
            _ => outcome.name(),
        };
        for upstream in &self.users {
            let (upstream, name) = (upstream.name(), &self.name.text);
            match standing {
                Standing::Pending => {}
                Standing::Resolved => tracing::info!(%upstream, %name, "name of the upstream resolves"),
                Standing::Unresolved(reason) => tracing::warn!(
                    %upstream,
                    %name,
                    reason = reason.name(),
                    error,
                    "name of the upstream does not resolve"
                ),
            }
        }
    }
}

/// What has to be asked and when, the next one on top.
type Agenda = BinaryHeap<Reverse<(Instant, Question)>>;

fn take_due(agenda: &mut Agenda, now: Instant) -> Option<Question> {
    agenda.peek().filter(|Reverse((due, _))| *due <= now)?;
    agenda.pop().map(|Reverse((_, question))| question)
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
