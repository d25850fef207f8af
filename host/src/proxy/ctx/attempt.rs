//! What of a request's context is about attempts: the loan of what one sends to the chain, and of its failure.
//! Must not know when a hook runs.

use std::sync::Arc;

use pingora::http::RequestHeader;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::Lent;
use crate::plugin::exchange::{Attempt, Decision, ErrorDecision, Trouble};

use super::{Ctx, session_heads};

impl Ctx {
    /// Runs the upstream request phase of the route's chain on the head that an attempt sends. `None` where
    /// that can't be lent.
    pub(crate) async fn run_upstream_request(&mut self, head: &mut RequestHeader) -> Option<Decision> {
        let attempt = self.attempt()?;
        let exchange = self.exchange_mut()?;
        exchange.attempt = Some(attempt);
        session_heads(exchange)?.lend_attempt(head);
        let decision =
            match (self.route.and_then(|route| self.generation.routes.get(route.index())), &mut self.lent) {
                (Some(entry), Some(lent)) => entry.chain(self.version).on_upstream_request(lent).await,
                _ => Decision::Next,
            };
        self.heads()?.take_back_attempt(head);
        Some(decision)
    }

    fn attempt(&self) -> Option<Attempt> {
        Some(Attempt {
            number: u32::try_from(self.attempts).unwrap_or(u32::MAX),
            upstream: Arc::clone(self.generation.upstreams.get(self.upstream?)?.name()),
            peer: self.hold.as_ref()?.endpoint().to_string(),
        })
    }

    /// Runs the error phase of the route's chain.
    pub(crate) fn run_error(&mut self, session: &mut Session, trouble: Trouble) -> ErrorDecision {
        if !self.lend_request(session, Phase::Error) {
            return ErrorDecision::Next;
        }
        if let Some(exchange) = self.lent.as_mut().and_then(Lent::exchange_mut) {
            exchange.trouble = Some(trouble);
        }
        let entry = self.route.and_then(|route| self.generation.routes.get(route.index()));
        let decision = match (entry, &mut self.lent) {
            (Some(entry), Some(lent)) => entry.chain(self.version).on_error(lent),
            _ => ErrorDecision::Next,
        };
        self.take_back_request(session);
        decision
    }
}
