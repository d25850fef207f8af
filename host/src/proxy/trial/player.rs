//! The phases of a played request until the upstream answers, in their order; those of the [response](reply) behind
//! them. Must not know where request and upstream come from.

mod reply;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{StatusCode, request};
use pingora::http::RequestHeader;

use crate::phase::Phase;
use crate::plugin::exchange::{
    Attempt, Attributes, BodyDecision, Decision, Entry, ErrorDecision, Exchange, Facts, HeadSizes,
    Heads as _, HttpCalls, Lent, PassedOver, Piece, Place, PluginResponse, Trouble, UpstreamNames,
};
use crate::plugin::{BodyPlan, Chain};
use crate::proxy::failure::Kind;
use crate::proxy::heads::SessionHeads;
use crate::proxy::local_response;

use self::reply::Draft;
use super::{Course, Origin, Outage, Reply, Verdict};

/// Peers of the upstream, each asked once.
const PEERS: u32 = 2;

/// A request on its way.
pub(super) struct Player<'a> {
    chain: &'a Chain,
    origin: &'a Origin,
    lent: Lent,
    request_id: Arc<str>,
    /// The head of the last attempt.
    sent: Option<request::Parts>,
    /// What of the body goes on.
    body: Bytes,
    attempts: u32,
}

/// Why an upstream's response is not what goes on.
enum Stop {
    Answered(Verdict, PluginResponse),
    /// A call was dropped: nothing is left of the request.
    Lost,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        chain: &'a Chain,
        origin: &'a Origin,
        mut head: RequestHeader,
        facts: Facts,
        upstreams: &Arc<dyn UpstreamNames>,
    ) -> Self {
        let mut heads = SessionHeads::empty();
        heads.lend_request(&mut head);
        let request_id = Arc::clone(&facts.request_id);
        let lent = Lent::new(Exchange {
            heads: Box::new(heads),
            sizes: HeadSizes::default(),
            facts,
            phase: Phase::Request,
            attributes: Attributes::default(),
            upstream: None,
            hash_key: None,
            upstreams: Arc::clone(upstreams),
            calls: Vec::with_capacity(4),
            body: None,
            piece: None,
            passed_over: PassedOver::default(),
            http_calls: HttpCalls::default(),
            attempt: None,
            trouble: None,
            entry: None,
        });
        Self { chain, origin, lent, request_id, sent: None, body: Bytes::new(), attempts: 0 }
    }

    /// `None` where the request was lost.
    pub(super) async fn play(mut self, body: &[Bytes]) -> Option<Course> {
        let (verdict, draft) = match self.ask(body).await {
            Ok(()) => {
                let Origin { status, headers, body, .. } = self.origin;
                let lines = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                (Verdict::Next, Draft { status: *status, lines, body: body.clone(), local: false })
            }
            Err(Stop::Answered(verdict, response)) => (verdict, Draft::of(response)),
            Err(Stop::Lost) => return None,
        };
        let reply = self.respond(draft).await?;
        if self.chain.has(Phase::Log) {
            self.exchange().ok()?.entry = Some(entry(verdict, &reply));
            self.chain.on_log(&mut self.lent).await;
        }
        let exchange = self.lent.into_exchange()?;
        let sent = self.sent.as_ref().unwrap_or_else(|| exchange.heads.request());
        Some(Course {
            verdict,
            method: sent.method.clone(),
            target: sent.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            headers: sent.headers.clone(),
            body: self.body,
            attempts: self.attempts,
            upstream: exchange.upstream.map(crate::ids::UpstreamId::index),
            reply,
            attributes: exchange.attributes.clone(),
            calls: exchange.calls.clone(),
        })
    }

    fn exchange(&mut self) -> Result<&mut Exchange, Stop> {
        self.lent.exchange_mut().ok_or(Stop::Lost)
    }

    /// All until the upstream answers.
    async fn ask(&mut self, body: &[Bytes]) -> Result<(), Stop> {
        let plan = self.chain.request_body();
        let all = whole(body);
        if let BodyPlan::Buffer { limit } = plan {
            if all.len() > limit {
                return Err(self.page(Kind::BodyTooLarge));
            }
            self.exchange()?.body = Some(all.clone());
        }
        let decision = self.chain.on_request(&mut self.lent).await;
        self.judge(decision)?;
        self.body = all.clone();
        if matches!(plan, BodyPlan::Buffer { .. }) {
            self.body = self.request_body(Piece { data: all, place: Place::Last }).await?;
        }
        self.reach(plan, body).await
    }

    async fn reach(&mut self, plan: BodyPlan, body: &[Bytes]) -> Result<(), Stop> {
        let outage = self.origin.fails.map(|Outage(kind)| kind);
        if let Some(kind @ (Kind::NoPeer | Kind::Overloaded | Kind::Exhausted)) = outage {
            return Err(self.page(kind));
        }
        loop {
            self.attempts += 1;
            let again = self.attempts < PEERS;
            match outage {
                Some(kind @ (Kind::ConnectFailed | Kind::ConnectTimeout)) => {
                    // Nothing was sent: unless a plugin answers, the next peer is asked.
                    match self.consult(kind, again)? {
                        ErrorDecision::Respond { response, .. } => return Err(answered(kind, response)),
                        _ if again => continue,
                        _ => return Err(self.host_page(kind)),
                    }
                }
                outage => {
                    self.send(plan, body).await?;
                    let Some(kind) = outage else { return Ok(()) };
                    let streamed =
                        plan == BodyPlan::Stream && self.chain.has(Phase::RequestBody) && !body.is_empty();
                    let again = again
                        && !streamed
                        && self.sent.as_ref().is_some_and(|sent| sent.method.is_idempotent());
                    match self.consult(kind, again)? {
                        ErrorDecision::Respond { response, .. } => return Err(answered(kind, response)),
                        ErrorDecision::Retry if again => {}
                        _ => return Err(self.host_page(kind)),
                    }
                }
            }
        }
    }

    /// One attempt, on a copy of the head.
    async fn send(&mut self, plan: BodyPlan, body: &[Bytes]) -> Result<(), Stop> {
        let before = self.heads()?.request().clone();
        let mut decision = Decision::Next;
        if self.chain.has(Phase::UpstreamRequest) {
            let number = self.attempts;
            // There is no peer: an address that nothing listens on.
            let peer = format!("127.0.0.1:{number}");
            self.exchange()?.attempt = Some(Attempt { number, upstream: "test".into(), peer });
            decision = self.chain.on_upstream_request(&mut self.lent).await;
            self.exchange()?.attempt = None;
        }
        self.sent = Some(self.heads()?.exchange_request(before));
        self.judge(decision)?;
        if plan == BodyPlan::Stream {
            let mut sent = BytesMut::new();
            for (at, data) in body.iter().enumerate() {
                let place = if at + 1 == body.len() { Place::Last } else { Place::Inside };
                sent.extend_from_slice(&self.request_body(Piece { data: data.clone(), place }).await?);
            }
            self.body = sent.freeze();
        }
        Ok(())
    }

    async fn request_body(&mut self, piece: Piece) -> Result<Bytes, Stop> {
        if !self.chain.has(Phase::RequestBody) {
            return Ok(piece.data);
        }
        match self.chain.on_request_body(&mut self.lent, piece).await {
            BodyDecision::Pass(data) => Ok(data),
            BodyDecision::Respond { response, .. } => Err(Stop::Answered(Verdict::Respond, response)),
            BodyDecision::Failed { failure, .. } => {
                Err(self.page_with(Verdict::Failed(failure), Kind::Plugin(failure)))
            }
        }
    }

    fn judge(&mut self, decision: Decision) -> Result<(), Stop> {
        match decision {
            Decision::Next => Ok(()),
            Decision::Respond { response, .. } => Err(Stop::Answered(Verdict::Respond, response)),
            Decision::Failed { failure, .. } => {
                Err(self.page_with(Verdict::Failed(failure), Kind::Plugin(failure)))
            }
        }
    }

    /// What `error-filter` says of a failure.
    fn consult(&mut self, kind: Kind, can_retry: bool) -> Result<ErrorDecision, Stop> {
        let Some(status) = kind.status().filter(|_| self.chain.has(Phase::Error)) else {
            return Ok(ErrorDecision::Next);
        };
        let attempts = self.attempts;
        let peer = (attempts > 0).then(|| format!("127.0.0.1:{attempts}"));
        self.exchange()?.trouble = Some(Trouble {
            error: kind.word(),
            status: status.as_u16(),
            attempts,
            upstream: Some("test".into()),
            peer,
            can_retry,
        });
        let decision = self.chain.on_error(&mut self.lent);
        self.exchange()?.trouble = None;
        Ok(decision)
    }

    /// The end with an error page, which may be `error-filter`'s.
    fn page(&mut self, kind: Kind) -> Stop {
        self.page_with(Verdict::Page(kind.word()), kind)
    }

    fn page_with(&mut self, verdict: Verdict, kind: Kind) -> Stop {
        match self.consult(kind, false) {
            Ok(ErrorDecision::Respond { response, .. }) => Stop::Answered(verdict, response),
            Ok(_) => match self.host_page(kind) {
                Stop::Answered(_, page) => Stop::Answered(verdict, page),
                Stop::Lost => Stop::Lost,
            },
            Err(stop) => stop,
        }
    }

    fn host_page(&self, kind: Kind) -> Stop {
        let status = kind.status().unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        answered(kind, local_response::page(status, &self.request_id))
    }

    fn heads(&mut self) -> Result<&mut SessionHeads, Stop> {
        let heads: &mut dyn Any = &mut *self.exchange()?.heads;
        heads.downcast_mut().ok_or(Stop::Lost)
    }
}

fn answered(kind: Kind, response: PluginResponse) -> Stop {
    Stop::Answered(Verdict::Page(kind.word()), response)
}

fn whole(pieces: &[Bytes]) -> Bytes {
    match pieces {
        [] => Bytes::new(),
        [one] => one.clone(),
        many => many.concat().into(),
    }
}

fn entry(verdict: Verdict, reply: &Reply) -> Entry {
    Entry {
        status: reply.status.as_u16(),
        duration: Duration::from_millis(1),
        response_bytes: reply.body.len() as u64,
        error: match verdict {
            Verdict::Failed(failure) => Some(failure.name()),
            Verdict::Page(word) => Some(word),
            Verdict::Next | Verdict::Respond => None,
        },
        ..Entry::default()
    }
}
