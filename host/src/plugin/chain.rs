//! The plugins of a route: forward on the request side, in reverse on the response side. Which plugin has
//! which phase is settled when the chain is made; a phase that a plugin does not have costs nothing. Must not
//! know how a plugin is called.

use std::sync::Arc;
use std::time::Instant;

use super::at_once;
use super::body::{self, BodyPlan};
use super::call::{
    self, ErrorFilter, Hook, LogFilter, Outcome, RequestBodyFilter, RequestFilter, ResponseBodyFilter,
    ResponseFilter, UpstreamRequestFilter,
};
use super::configuration::ConfigId;
use super::exchange::{
    BodyDecision, CallRecord, Decision, ErrorDecision, Exchange, Failure, HeadSizes, Lent, Piece, Place,
    PluginResponse,
};
use super::loaded::Plugin;
use crate::config::model::{Codings, OnFailure};
use crate::phase::Phase;

/// The plugins of one route.
#[derive(Default)]
pub struct Chain {
    /// In the order of the route.
    plugins: Box<[Arc<Plugin>]>,
    /// By [`Phase::index`]: the plugins that have the phase, in the order in which they are called.
    phases: [Box<[Link]>; Phase::ALL.len()],
    request_body: BodyPlan,
    identity: bool,
    logs_response: bool,
    /// Plugins that want instances made ahead.
    fresh: Box<[Link]>,
}

#[derive(Clone)]
pub(super) struct Link {
    pub(super) plugin: Arc<Plugin>,
    config: ConfigId,
}

impl Chain {
    /// A chain of plugins, each with a configuration that [`Plugin::configure`] gave it.
    pub fn new(links: Vec<(Arc<Plugin>, ConfigId)>) -> Self {
        let links: Vec<Link> = links.into_iter().map(|(plugin, config)| Link { plugin, config }).collect();
        let having = |phase: Phase| {
            let mut having: Vec<Link> = links.iter().filter(|link| link.plugin.has(phase)).cloned().collect();
            if matches!(phase, Phase::Response | Phase::ResponseBody | Phase::Error) {
                having.reverse();
            }
            having.into_boxed_slice()
        };
        Self {
            plugins: links.iter().map(|link| Arc::clone(&link.plugin)).collect(),
            identity: links.iter().any(|link| {
                link.plugin.has(Phase::ResponseBody) && link.plugin.bodies().codings() == Codings::Identity
            }),
            logs_response: links
                .iter()
                .any(|link| link.plugin.has(Phase::Log) && link.plugin.knows_response()),
            phases: Phase::ALL.map(having),
            request_body: BodyPlan::of(links.iter().map(|link| link.plugin.bodies().request())),
            fresh: links.iter().filter(|link| link.plugin.is_fresh()).cloned().collect(),
        }
    }

    /// Whether the route has no plugins.
    pub fn is_empty(&self) -> bool {
        self.plugins.is_empty()
    }

    /// The plugins in the order of the route.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.iter().map(|plugin| &**plugin)
    }

    /// The configurations that it calls a plugin with.
    pub fn configurations(&self, plugin: &Plugin) -> impl Iterator<Item = ConfigId> {
        let own = move |link: &&Link| std::ptr::eq(&*link.plugin, plugin);
        self.phases.iter().flatten().filter(own).map(|link| link.config)
    }

    /// Whether any plugin has the phase: where none has, the proxy need not ask.
    pub fn has(&self, phase: Phase) -> bool {
        !self.links(phase).is_empty()
    }

    pub(super) fn links(&self, phase: Phase) -> &[Link] {
        self.phases.get(phase.index()).map(|links| &**links).unwrap_or_default()
    }

    /// `request-filter`, until one plugin answers or fails. What a plugin changed before it failed stays.
    pub async fn on_request(&self, lent: &mut Lent) -> Decision {
        self.forward::<RequestFilter>(lent).await
    }

    /// `upstream-request-filter`, until one plugin answers or fails. The exchange must have its attempt, and
    /// the head that the attempt sends.
    pub async fn on_upstream_request(&self, lent: &mut Lent) -> Decision {
        self.forward::<UpstreamRequestFilter>(lent).await
    }

    async fn forward<H: Hook>(&self, lent: &mut Lent) -> Decision {
        enter(lent, H::PHASE);
        let mut began = Instant::now();
        for link in self.links(H::PHASE) {
            let by = || Arc::clone(link.plugin.shared_name());
            match link.call::<H>(lent, &mut began).await {
                Outcome::Respond(response) => return Decision::Respond { by: by(), response },
                Outcome::Failed(failure) => return Decision::Failed { by: by(), failure },
                _ => {}
            }
        }
        Decision::Next
    }

    /// `response-filter`, the last plugin of the chain first. A response that a plugin makes, or the error
    /// that one causes, takes the place of the response, and the rest of the chain sees it.
    pub async fn on_response(&self, lent: &mut Lent) -> Decision {
        enter(lent, Phase::Response);
        let mut decision = Decision::Next;
        let mut began = Instant::now();
        for link in self.links(Phase::Response) {
            let by = || Arc::clone(link.plugin.shared_name());
            match link.call::<ResponseFilter>(lent, &mut began).await {
                Outcome::Respond(mut response) => {
                    replace(lent, &mut response);
                    decision = Decision::Respond { by: by(), response };
                }
                Outcome::Failed(failure) => {
                    replace(lent, &mut error_response(failure));
                    decision = Decision::Failed { by: by(), failure };
                }
                _ => {}
            }
        }
        decision
    }

    /// How the chain wants the bodies of requests.
    pub fn request_body(&self) -> BodyPlan {
        self.request_body
    }

    /// `request-body-filter`: what one plugin lets through is what the next one gets.
    pub async fn on_request_body(&self, lent: &mut Lent, piece: Piece) -> BodyDecision {
        enter(lent, Phase::RequestBody);
        self.filter_body::<RequestBodyFilter>(lent, piece).await
    }

    async fn filter_body<H: Hook>(&self, lent: &mut Lent, mut piece: Piece) -> BodyDecision {
        let mut began = Instant::now();
        for (place, link) in self.links(H::PHASE).iter().enumerate() {
            let bit = body::bit(place);
            if piece.data.is_empty() && piece.place == Place::Inside {
                // Held back by the plugin before.
                break;
            }
            if let Some(exchange) = lent.exchange_mut() {
                if *exchange.passed_over.of(H::PHASE) & bit != 0 {
                    continue;
                }
                exchange.piece = Some(piece.clone());
            }
            let by = || Arc::clone(link.plugin.shared_name());
            match link.call::<H>(lent, &mut began).await {
                Outcome::Replace(data) => {
                    piece.data = data;
                    let whole =
                        |exchange: &&mut Exchange| H::PHASE == Phase::RequestBody && exchange.body.is_some();
                    if let Some(exchange) = lent.exchange_mut().filter(whole) {
                        exchange.body = Some(piece.data.clone());
                    }
                }
                Outcome::Skipped => {
                    if let Some(exchange) = lent.exchange_mut() {
                        *exchange.passed_over.of(H::PHASE) |= bit;
                    }
                }
                Outcome::Respond(response) => return BodyDecision::Respond { by: by(), response },
                Outcome::Failed(failure) => return BodyDecision::Failed { by: by(), failure },
                Outcome::Next | Outcome::Retry => {}
            }
        }
        if let Some(exchange) = lent.exchange_mut() {
            exchange.piece = None;
        }
        BodyDecision::Pass(piece.data)
    }

    /// Whether bodies of responses must come without a content coding.
    pub fn wants_identity(&self) -> bool {
        self.identity
    }

    /// `response-body-filter`, the last plugin of the chain first. Never waits: plugins that would are refused at
    /// load.
    pub fn on_response_body(&self, lent: &mut Lent, piece: Piece) -> BodyDecision {
        enter(lent, Phase::ResponseBody);
        let decided = at_once::result(self.filter_body::<ResponseBodyFilter>(lent, piece));
        decided.unwrap_or_else(|| BodyDecision::Failed { by: Arc::default(), failure: Failure::HostPanic })
    }

    /// `error-filter`, the last plugin of the chain first, until one decides. The exchange must have its
    /// trouble. Never waits: plugins that would are refused at load.
    pub fn on_error(&self, lent: &mut Lent) -> ErrorDecision {
        at_once::result(self.decide_error(lent)).unwrap_or(ErrorDecision::Next)
    }

    async fn decide_error(&self, lent: &mut Lent) -> ErrorDecision {
        enter(lent, Phase::Error);
        let mut began = Instant::now();
        for link in self.links(Phase::Error) {
            match link.call::<ErrorFilter>(lent, &mut began).await {
                Outcome::Retry => return ErrorDecision::Retry,
                Outcome::Respond(response) => {
                    return ErrorDecision::Respond { by: Arc::clone(link.plugin.shared_name()), response };
                }
                _ => {}
            }
        }
        ErrorDecision::Next
    }

    /// Whether any plugin with `log-filter` can ask for the response that was sent: showing it takes a copy.
    pub fn logs_response(&self) -> bool {
        self.logs_response
    }

    /// `log-filter`, in the order of the chain. The exchange must have its entry. A failure has no effect.
    pub async fn on_log(&self, lent: &mut Lent) {
        enter(lent, Phase::Log);
        let mut began = Instant::now();
        for link in self.links(Phase::Log) {
            link.call::<LogFilter>(lent, &mut began).await;
        }
    }

    /// What can be done ahead for the next request: plugins that never serve two requests from one instance
    /// get new ones, and used ones are taken down. To be called once a response was sent.
    pub async fn refill(&self) {
        for link in &self.fresh {
            link.plugin.refill(link.config).await;
        }
    }
}

impl Link {
    /// One call, with its cost. The clock is read once: where this call ends, the next begins.
    async fn call<H: Hook>(&self, lent: &mut Lent, began: &mut Instant) -> Outcome {
        let quarantine = self.plugin.quarantine(H::PHASE);
        let Some(pass) = quarantine.admit() else {
            return self.failed(H::PHASE, Failure::Quarantined);
        };
        let outcome = call::run::<H>(&self.plugin, self.config, lent).await;
        let now = Instant::now();
        let took = now.duration_since(std::mem::replace(began, now));
        if let Some(exchange) = lent.exchange_mut() {
            let plugin = Arc::clone(self.plugin.shared_name());
            record(&mut exchange.calls, CallRecord { plugin, phase: H::PHASE, took });
        }
        let phase = self.plugin.metrics().phase(H::PHASE);
        phase.latency.observe(took);
        match outcome {
            Outcome::Next | Outcome::Skipped => {
                quarantine.succeeded();
                phase.next.inc();
                outcome
            }
            Outcome::Replace(_) => {
                quarantine.succeeded();
                phase.replace.inc();
                outcome
            }
            Outcome::Retry => {
                quarantine.succeeded();
                phase.retry.inc();
                outcome
            }
            Outcome::Respond(_) => {
                quarantine.succeeded();
                phase.respond.inc();
                outcome
            }
            Outcome::Failed(failure) => {
                quarantine.failed(pass, failure);
                self.failed(H::PHASE, failure)
            }
        }
    }

    /// What a failure comes to.
    fn failed(&self, phase: Phase, failure: Failure) -> Outcome {
        let metrics = self.plugin.metrics();
        metrics.failed(failure);
        if matches!(phase, Phase::Error | Phase::Log) || self.plugin.on_failure() == OnFailure::Open {
            metrics.phase(phase).skipped.inc();
            return Outcome::Skipped;
        }
        metrics.phase(phase).failed.inc();
        Outcome::Failed(failure)
    }
}

/// The pieces of one body are one record a plugin.
fn record(calls: &mut Vec<CallRecord>, call: CallRecord) {
    if call.phase.is_of_body() {
        let known = calls.iter_mut().rev().take_while(|known| known.phase == call.phase);
        if let Some(known) = known.into_iter().find(|known| known.plugin == call.plugin) {
            known.took += call.took;
            return;
        }
    }
    calls.push(call);
}

fn enter(lent: &mut Lent, phase: Phase) {
    if let Some(exchange) = lent.exchange_mut() {
        exchange.phase = phase;
        // The host may have changed the heads since the phase before.
        exchange.sizes = HeadSizes::default();
    }
}

fn replace(lent: &mut Lent, response: &mut PluginResponse) {
    if let Some(exchange) = lent.exchange_mut() {
        exchange.sizes.response = None;
        exchange.heads.replace_response(response.status, std::mem::take(&mut response.headers));
    }
}

fn error_response(failure: Failure) -> PluginResponse {
    PluginResponse { status: failure.status(), headers: Vec::new(), body: bytes::Bytes::new() }
}
