//! The error phase of a route's chain, and the page that is sent where no plugin has another. Knows why
//! (`failure`), not when: that is `phase/fail`'s.

use http::{HeaderValue, header};
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::{ErrorDecision, PluginResponse, Trouble};

use super::ctx::Ctx;
use super::failure::Kind;
use super::local_response;

/// When a request that had no place may come again, in seconds: load passes quickly or not at all.
const RETRY_AFTER: &str = "1";

/// Whether the request could be sent once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    Possible,
    Impossible,
}

/// Asks the chain what to do about a failure. Never waits.
pub(crate) fn consult(session: &mut Session, ctx: &mut Ctx, kind: Kind, retry: Retry) -> ErrorDecision {
    let Some(status) = kind.status() else { return ErrorDecision::Next };
    if local_response::final_status(session).is_some() {
        // Nobody will see a page.
        return ErrorDecision::Next;
    }
    if !ctx.chain().is_some_and(|chain| chain.has(Phase::Error)) {
        return ErrorDecision::Next;
    }
    let upstream = ctx.upstream();
    let trouble = Trouble {
        error: kind.word(),
        status: status.as_u16(),
        attempts: u32::try_from(ctx.attempts).unwrap_or(u32::MAX),
        upstream: upstream.map(|upstream| std::sync::Arc::clone(upstream.name())),
        peer: ctx.peer().map(ToString::to_string),
        can_retry: retry == Retry::Possible,
    };
    ctx.run_error(session, trouble)
}

/// The page for a failure that ends the request: a plugin's, or the host's.
pub(crate) fn make(session: &mut Session, ctx: &mut Ctx, kind: Kind) -> Option<PluginResponse> {
    let status = kind.status()?;
    match consult(session, ctx, kind, Retry::Impossible) {
        ErrorDecision::Respond { by, response } => {
            ctx.decided_by = Some(by);
            Some(response)
        }
        ErrorDecision::Next | ErrorDecision::Retry => {
            let mut page = local_response::page(status, ctx.request_id());
            if kind.is_passing() {
                page.headers.push((header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER)));
            }
            Some(page)
        }
    }
}
