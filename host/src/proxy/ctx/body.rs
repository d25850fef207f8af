//! What of a request's context is about bodies: the loan of pieces to the chain, and what stands in for the session.
//! Must not know when a hook runs.

use bytes::Bytes;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::{BodyDecision, Piece};
use crate::plugin::{BodyPlan, Traits, Unsuitable};
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::stand_in::StandIn;

use super::Ctx;

/// What plugins have to do with the body of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestBody {
    Untouched,
    /// They get its pieces as they come.
    Streamed,
    /// They got some: it can't be sent again.
    Begun,
    /// It was read before a peer was chosen.
    Whole,
}

impl Ctx {
    /// Keeps the whole body for plugins to read; the head must be lent.
    pub(crate) fn keep_body(&mut self, body: Bytes) {
        if let Some(exchange) = self.exchange_mut() {
            exchange.body = Some(body);
        }
    }

    /// Runs the body phase of the request on a piece. `None` where the request can't be lent.
    pub(crate) async fn run_request_body(
        &mut self,
        session: &mut Session,
        piece: Piece,
    ) -> Option<BodyDecision> {
        if !self.lend_request(session, Phase::RequestBody) {
            return None;
        }
        let entry = self.route.and_then(|route| self.generation.routes.get(route.index()));
        let decision = match (entry, &mut self.lent) {
            (Some(entry), Some(lent)) => Some(entry.chain(self.version).on_request_body(lent, piece).await),
            _ => None,
        };
        self.take_back_request(session);
        decision
    }

    /// What has the place of the session from now on.
    pub(crate) fn stand_in(&mut self, session: &mut Session) -> &StandIn {
        self.stand_in.get_or_insert_with(|| StandIn::install(session, None))
    }

    /// Gives the session its place back, if another one has it. Returns a replacement that was not written.
    pub(crate) fn restore(&mut self, session: &mut Session) -> Option<(Box<ResponseHeader>, Bytes)> {
        self.stand_in.take()?.remove(session)
    }

    pub(crate) fn has_response_body(&self) -> bool {
        self.chain().is_some_and(|chain| chain.has(Phase::ResponseBody))
    }

    /// How the body of a response with these traits is given to the chain.
    ///
    /// # Errors
    /// A plugin takes no such response.
    pub(crate) fn fit_response(&mut self, traits: Traits) -> Result<BodyPlan, Failed> {
        let Some(chain) = self.chain() else { return Ok(BodyPlan::None) };
        match chain.fit(traits, self.request_id()) {
            Ok(fit) => {
                if let Some(exchange) = self.exchange_mut() {
                    exchange.passed_over.response = fit.passed_over;
                }
                Ok(fit.plan)
            }
            Err(Unsuitable { by, why }) => {
                let failed = Failed::because(Kind::ResponseUnfit, format!("plugin `{by}`: {why}"));
                self.decided_by = Some(by);
                Err(failed)
            }
        }
    }

    /// Runs the body phase of the response on a piece, with the head where that waits. `None` where the request
    /// can't be lent.
    pub(crate) fn run_response_body(
        &mut self,
        session: &mut Session,
        head: Option<&mut ResponseHeader>,
        piece: Piece,
    ) -> Option<BodyDecision> {
        if !self.lend_request(session, Phase::ResponseBody) {
            return None;
        }
        let mut head = head;
        if let (Some(heads), Some(head)) = (self.heads(), head.as_deref_mut()) {
            heads.lend_response(head);
        }
        let entry = self.route.and_then(|route| self.generation.routes.get(route.index()));
        let decision = match (entry, &mut self.lent) {
            (Some(entry), Some(lent)) => Some(entry.chain(self.version).on_response_body(lent, piece)),
            _ => None,
        };
        match head {
            Some(head) => self.take_back_response(session, head),
            None => self.take_back_request(session),
        }
        decision
    }

    /// Has the client's connection end with the response.
    pub(crate) fn close_client(&self, session: &mut Session) {
        match &self.stand_in {
            Some(stand_in) => stand_in.close(),
            None => session.set_keepalive(None),
        }
    }

    /// The whole body, as the chain left it, if there is one to be sent.
    pub(crate) fn whole_body(&self) -> Option<Bytes> {
        let whole = self.request_body == RequestBody::Whole;
        whole.then(|| self.exchange()?.body.clone()).flatten()
    }

    /// From here on, each attempt sends this body.
    pub(crate) fn send_whole(&mut self, session: &mut Session, body: Bytes) {
        self.stand_in = Some(StandIn::install(session, Some(body)));
    }
}
