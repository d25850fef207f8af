//! Whether a request that was sent may be sent once more. Knows nothing of connections that failed: those sent
//! nothing.

use pingora::proxy::Session;
use pingora::{Error, ErrorType};

use super::ctx::{Ctx, RequestBody};
use super::failure::{Failed, Kind};
use super::local_response::final_status;

/// Ends the exchange with a peer whose response is of no use: `error_while_proxy` sends the request on.
pub(crate) const REPEAT: ErrorType = ErrorType::Custom("response given up for another try");

/// Why it would be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The connection broke, or what came was no HTTP.
    Reset,
    /// Nothing came in time.
    Timeout,
    /// The peer answered with this status.
    Status(u16),
}

impl Reason {
    /// What a failure is in the words of `retries.on`.
    pub(crate) fn of(failed: &Failed) -> Option<Self> {
        match failed.kind {
            Kind::UpstreamBroken => Some(Reason::Reset),
            Kind::UpstreamTimeout => Some(Reason::Timeout),
            _ => None,
        }
    }
}

/// Whether sending it twice does what sending it once does (RFC 9110, section 9.2.2), and can be done: its body is
/// still there, and the client was sent nothing.
pub(crate) fn is_repeatable(session: &Session, ctx: &Ctx) -> bool {
    let method = &session.req_header().method;
    ctx.chosen_method().unwrap_or(method).is_idempotent()
        && method.is_idempotent()
        && ctx.request_body != RequestBody::Begun
        && final_status(session).is_none()
        && !session.as_ref().retry_buffer_truncated()
}

/// Takes the request off its peer, to be sent to another one, if the upstream wants that, it is safe, and not too
/// many are tried again already.
pub(crate) fn repeat(session: &Session, ctx: &mut Ctx, reason: Reason) -> bool {
    let Some(upstream) = ctx.upstream().cloned() else { return false };
    let retries = upstream.retries();
    let wanted = match reason {
        Reason::Reset => retries.on.reset,
        Reason::Timeout => retries.on.timeout,
        Reason::Status(status) => retries.on.statuses.contains(&status),
    };
    if !wanted || ctx.sent >= retries.attempts || !is_repeatable(session, ctx) {
        return false;
    }
    // One that is tried for the third time draws no second time.
    if ctx.retrying.is_none() {
        ctx.retrying = upstream.draw_retry();
    }
    if ctx.retrying.is_none() {
        return false;
    }
    ctx.give_up_peer();
    if upstream.peers().len() <= ctx.tried.len() {
        // Better the same peer again than none.
        ctx.tried.clear();
    }
    true
}

/// An error that has Pingora send the request again.
pub(crate) fn error() -> Box<Error> {
    let mut error = Error::new(REPEAT);
    error.set_retry(true);
    error
}
