//! What the proxy keeps of one request from its first byte to its log line. Pins the generation: a request
//! lives and dies in one.

mod attempt;
mod body;

use std::sync::Arc;
use std::time::Instant;

use http::Method;
use http::uri::PathAndQuery;
use pingora::http::ResponseHeader;
use pingora::protocols::http::bridge::grpc_web::GrpcWebCtx;
use pingora::proxy::Session;

use crate::config::model::Edits;
use crate::ids::{RouteId, UpstreamId};
use crate::observe::access_log::AccessLog;
use crate::phase::Phase;
use crate::plugin::Chain;
use crate::plugin::exchange::{
    Attributes, Decision, Entry, Exchange, Facts, HeadSizes, Heads, HttpCalls, Lent, PassedOver,
    PluginResponse,
};
use crate::snapshot::{Generation, RouteEntry, Version};
use crate::upstream::{Endpoint, Hold, Peer, Retrying, Upstream};

use super::downstream::Connection;
use super::failure::Failed;
use super::heads::SessionHeads;
use super::in_flight::InFlight;
use super::mirror::Mirroring;
use super::phase::response_body::ResponseBody;
use super::stand_in::StandIn;

pub(crate) use body::RequestBody;

/// A request's context: Pingora's `CTX`.
pub struct Ctx {
    pub(crate) generation: Arc<Generation>,
    pub(crate) arrived: Instant,
    pub(crate) route: Option<RouteId>,
    /// Of the route's rollout, where it has one.
    pub(crate) version: Version,
    /// What the client asked for; `None` while nothing of the request is known to be good.
    pub(crate) facts: Option<Facts>,
    /// Boxed once a plugin needs it, then kept to the end.
    lent: Option<Lent>,
    /// What the upstream is asked for, where the route changes the target.
    pub(crate) target: Option<PathAndQuery>,
    /// The client's connection.
    pub(crate) connection: Option<Arc<Connection>>,
    /// The upstream that was chosen.
    pub(crate) upstream: Option<UpstreamId>,
    /// The peer of it that the request is at.
    pub(crate) hold: Option<Hold>,
    /// Peers of it that failed the request.
    pub(crate) tried: Vec<Peer>,
    pub(crate) attempts: usize,
    /// Attempts that reached a peer.
    pub(crate) sent: u32,
    /// Whether it was sent again because a kept connection was closed just then.
    pub(crate) tried_anew: bool,
    /// That it is sent once more.
    pub(crate) retrying: Option<Retrying>,
    /// When it has taken too long, whatever it does; `None` before it has an upstream and once it is upgraded.
    pub(crate) deadline: Option<Instant>,
    pub(crate) decided_by: Option<Arc<str>>,
    pub(crate) failed: Option<Failed>,
    /// What a plugin answers in place of an attempt, or of an error page.
    pub(crate) answer: Option<PluginResponse>,
    pub(crate) request_body: RequestBody,
    pub(crate) response_body: ResponseBody,
    /// Where the session waits while another one has its place.
    pub(crate) stand_in: Option<StandIn>,
    /// Whether a client that waits for `100 Continue` was sent it.
    pub(crate) continued: bool,
    /// Bytes of the request's body.
    pub(crate) received: u64,
    pub(crate) mirroring: Mirroring,
    /// What of gRPC-Web is done.
    pub(crate) grpc_web: GrpcWebCtx,
    /// Interim responses of the upstream.
    pub(crate) interim: usize,
    /// What its line in the log has left where it is cut.
    pub(crate) traces: Traces,
    /// Whether the log phase saw it.
    pub(crate) finished: bool,
    access_log: Option<AccessLog>,
    in_flight: InFlight,
}

/// What is known of a request without its session, which is gone when it is cut.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    pub(crate) method: Option<Method>,
    /// Of the response that went out; 0 before.
    pub(crate) status: u16,
    /// Bytes of the response's body that went out, or were about to.
    pub(crate) response_bytes: u64,
}

impl Ctx {
    pub(crate) fn new(generation: Arc<Generation>, in_flight: InFlight) -> Self {
        Self {
            access_log: generation.access_log.clone(),
            generation,
            arrived: Instant::now(),
            route: None,
            version: Version::default(),
            facts: None,
            lent: None,
            target: None,
            connection: None,
            upstream: None,
            hold: None,
            tried: Vec::new(),
            attempts: 0,
            sent: 0,
            tried_anew: false,
            retrying: None,
            deadline: None,
            decided_by: None,
            failed: None,
            answer: None,
            request_body: RequestBody::Untouched,
            response_body: ResponseBody::Untouched,
            stand_in: None,
            continued: false,
            received: 0,
            mirroring: Mirroring::default(),
            grpc_web: GrpcWebCtx::Disabled,
            interim: 0,
            traces: Traces::default(),
            finished: false,
            in_flight,
        }
    }

    /// The access log, once: whoever takes it writes the request's line.
    pub(crate) fn take_access_log(&mut self) -> Option<AccessLog> {
        self.access_log.take()
    }

    /// Whether the process or the client's listener is about to end: no connection is kept for a next request.
    pub(crate) fn is_draining(&self) -> bool {
        self.in_flight.is_draining()
            || self.connection.as_ref().is_some_and(|connection| connection.leave.is_announced())
    }

    pub(crate) fn entry(&self) -> Option<&RouteEntry> {
        self.generation.routes.get(self.route?.index())
    }

    /// What the request's route changes without a plugin; `None` where it changes nothing.
    pub(crate) fn edits(&self) -> Option<&Edits> {
        self.entry()?.edits.as_ref()
    }

    /// The upstream that was chosen.
    pub(crate) fn upstream(&self) -> Option<&Arc<Upstream>> {
        self.generation.upstreams.get(self.upstream?)
    }

    /// The peer that the request is at, or was at last.
    pub(crate) fn peer(&self) -> Option<&Endpoint> {
        let held = self.hold.as_ref().map(Hold::endpoint);
        held.or_else(|| self.tried.last().map(Peer::endpoint))
    }

    /// Lets go of a peer that failed the request, and remembers it.
    pub(crate) fn give_up_peer(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.tried.push(hold.peer().clone());
        }
    }

    /// The plugins of the request's route.
    pub(crate) fn chain(&self) -> Option<&Chain> {
        self.entry().map(|entry| entry.chain(self.version))
    }

    /// Empty until the request was looked at.
    pub(crate) fn request_id(&self) -> &str {
        self.facts.as_ref().map_or("", |facts| &facts.request_id)
    }

    /// The request's exchange, if a plugin needed one.
    pub(crate) fn exchange(&self) -> Option<&Exchange> {
        self.lent.as_ref().and_then(Lent::exchange)
    }

    /// Moves the request's head to where plugins reach it. `false` where that can't be done: then no
    /// plugin runs, and the caller treats it as a failure of the host.
    pub(crate) fn lend_request(&mut self, session: &mut Session, phase: Phase) -> bool {
        let Some(exchange) = self.exchange_mut() else { return false };
        exchange.phase = phase;
        match session_heads(exchange) {
            Some(heads) => {
                heads.lend_request(session.req_header_mut());
                true
            }
            None => false,
        }
    }

    /// Moves it back.
    pub(crate) fn take_back_request(&mut self, session: &mut Session) {
        if let Some(heads) = self.heads() {
            heads.take_back_request(session.req_header_mut());
        }
    }

    /// The method that the upstream is sent, where a plugin changed it.
    pub(crate) fn chosen_method(&self) -> Option<&Method> {
        let heads: &dyn Heads = &*self.exchange()?.heads;
        (heads as &dyn std::any::Any).downcast_ref::<SessionHeads>()?.chosen_method()
    }

    fn heads(&mut self) -> Option<&mut SessionHeads> {
        self.lent.as_mut().and_then(Lent::exchange_mut).and_then(session_heads)
    }

    /// Moves the request's and the response's head to where plugins reach them.
    pub(crate) fn lend_response(&mut self, session: &mut Session, head: &mut ResponseHeader) -> bool {
        let lent = self.lend_request(session, Phase::Response);
        if let (true, Some(heads)) = (lent, self.heads()) {
            heads.lend_response(head);
        }
        lent
    }

    /// Moves them back.
    pub(crate) fn take_back_response(&mut self, session: &mut Session, head: &mut ResponseHeader) {
        if let Some(heads) = self.heads() {
            heads.take_back_request(session.req_header_mut());
            heads.take_back_response(head);
        }
    }

    /// Lends the finished request and what was sent, for `log-filter`.
    pub(crate) fn lend_finished(&mut self, session: &mut Session, entry: Entry) -> bool {
        // A copy of it, where anyone can ask for it.
        let wanted = self.chain().is_some_and(Chain::logs_response);
        let sent = session.response_written().filter(|_| wanted).map(ResponseHeader::as_owned_parts);
        if !self.lend_request(session, Phase::Log) {
            return false;
        }
        if let Some(exchange) = self.lent.as_mut().and_then(Lent::exchange_mut) {
            exchange.entry = Some(entry);
            if let (Some(heads), Some(sent)) = (session_heads(exchange), sent) {
                heads.show_response(sent);
            }
        }
        true
    }

    /// Runs the request phase of the route's chain; the heads must be lent.
    pub(crate) async fn run_request(&mut self) -> Decision {
        match (self.route.and_then(|route| self.generation.routes.get(route.index())), &mut self.lent) {
            (Some(entry), Some(lent)) => entry.chain(self.version).on_request(lent).await,
            _ => Decision::Next,
        }
    }

    /// Runs the response phase of the route's chain; the heads must be lent.
    pub(crate) async fn run_response(&mut self) -> Decision {
        match (self.route.and_then(|route| self.generation.routes.get(route.index())), &mut self.lent) {
            (Some(entry), Some(lent)) => entry.chain(self.version).on_response(lent).await,
            _ => Decision::Next,
        }
    }

    /// Runs the log phase of the route's chain; the heads must be lent.
    pub(crate) async fn run_log(&mut self) {
        if let (Some(entry), Some(lent)) =
            (self.route.and_then(|route| self.generation.routes.get(route.index())), &mut self.lent)
        {
            entry.chain(self.version).on_log(lent).await;
        }
    }

    fn exchange_mut(&mut self) -> Option<&mut Exchange> {
        if self.lent.is_none() {
            let exchange = Exchange {
                heads: Box::new(SessionHeads::empty()),
                sizes: HeadSizes::default(),
                facts: self.facts.clone()?,
                phase: Phase::Request,
                attributes: Attributes::default(),
                upstream: None,
                hash_key: None,
                upstreams: Arc::clone(&self.generation.upstream_names),
                calls: Vec::with_capacity(8),
                body: None,
                piece: None,
                passed_over: PassedOver::default(),
                attempt: None,
                trouble: None,
                http_calls: HttpCalls::default(),
                entry: None,
            };
            self.lent = Some(Lent::new(exchange));
        }
        self.lent.as_mut().and_then(Lent::exchange_mut)
    }
}

fn session_heads(exchange: &mut Exchange) -> Option<&mut SessionHeads> {
    let heads: &mut dyn Heads = &mut *exchange.heads;
    (heads as &mut dyn std::any::Any).downcast_mut()
}

/// A request that is dropped in its middle, at the end of a shutdown's grace, still has its line in the log.
impl Drop for Ctx {
    fn drop(&mut self) {
        if !self.finished && self.in_flight.is_draining() {
            self.in_flight.is_cut();
        }
        if let Some(log) = self.take_access_log() {
            super::phase::log::cut(&log, self);
        }
    }
}
