//! `fail_to_connect`, `error_while_proxy` and `fail_to_proxy`: another peer where that is safe, the error
//! page where it is not.

use pingora::proxy::{FailToProxy, Session};
use pingora::{Error, ErrorSource};

use crate::plugin::exchange::ErrorDecision;
use crate::proxy::ctx::Ctx;
use crate::proxy::error_page::{self, Retry};
use crate::proxy::failure::{Failed, is_exhausted};
use crate::proxy::local_response;
use crate::proxy::retry::{REPEAT, Reason, is_repeatable, repeat};

/// Nothing was sent yet, so any request may go to another peer, unless a plugin answers. Whether there is one,
/// `upstream_peer` says.
pub(crate) fn to_connect(session: &mut Session, ctx: &mut Ctx, mut error: Box<Error>) -> Box<Error> {
    let kind = ctx.failed.insert(Failed::of(&error)).kind;
    let mut retry = Retry::Impossible;
    if !is_exhausted(&error)
        && let (Some(hold), Some(upstream)) = (&ctx.hold, ctx.upstream())
    {
        hold.connect_failed(upstream);
        if upstream.retries().on.connect {
            retry = Retry::Possible;
        }
    }
    let decision = error_page::consult(session, ctx, kind, retry);
    ctx.give_up_peer();
    error.set_retry(!answers(ctx, decision) && retry == Retry::Possible);
    error
}

/// A kept-alive connection that the peer closed meanwhile is worth a second try on a new one, if the request
/// can be sent twice. Whether it is sent again for other reasons, a plugin says, or else the upstream's `retries`.
pub(crate) fn while_proxying(
    session: &mut Session,
    ctx: &mut Ctx,
    mut error: Box<Error>,
    client_reused: bool,
) -> Box<Error> {
    if *error.etype() == REPEAT {
        return error;
    }
    ctx.sent += 1;
    let safe = is_repeatable(session, ctx);
    // Once: a request that ends its upstream must not go through all connections that were kept.
    if safe && !std::mem::replace(&mut ctx.tried_anew, true) {
        error.retry.decide_reuse(client_reused);
    } else {
        error.set_retry(false);
    }
    if error.retry() {
        // The peer is not at fault: it may be picked again.
        ctx.hold = None;
        ctx.sent -= 1;
        return error;
    }
    let failed = Failed::of(&error);
    if failed.kind.is_upstreams()
        && let (Some(hold), Some(upstream)) = (&ctx.hold, ctx.upstream())
    {
        hold.broke(upstream);
    }
    let again = safe && *error.esource() == ErrorSource::Upstream && may_be_asked(session, ctx) && {
        let reason = Reason::of(&failed);
        let kind = ctx.failed.insert(failed).kind;
        match error_page::consult(session, ctx, kind, Retry::Possible) {
            ErrorDecision::Retry => {
                ctx.give_up_peer();
                true
            }
            ErrorDecision::Next => reason.is_some_and(|reason| repeat(session, ctx, reason)),
            decision @ ErrorDecision::Respond { .. } => !answers(ctx, decision),
        }
    };
    error.set_retry(again);
    error
}

/// Whether the client was told nothing yet, and nobody has decided what it will be told.
fn may_be_asked(session: &Session, ctx: &Ctx) -> bool {
    local_response::final_status(session).is_none() && ctx.failed.is_none() && ctx.answer.is_none()
}

/// Keeps the answer of a plugin, if it made one.
fn answers(ctx: &mut Ctx, decision: ErrorDecision) -> bool {
    let ErrorDecision::Respond { by, response } = decision else { return false };
    ctx.decided_by = Some(by);
    ctx.answer = Some(response);
    true
}

/// Sends the error page, or the response that a plugin put in the upstream's place.
pub(crate) async fn to_proxy(session: &mut Session, ctx: &mut Ctx, error: &Error) -> FailToProxy {
    if let Some((head, body)) = ctx.restore(session) {
        // The chain had it already. Pingora gives the connection up after an error.
        session.set_keepalive(None);
        let error_code = head.status.as_u16();
        // A client that can't be written to is gone; the log phase says so by the status.
        let _ = local_response::write(session, head, body).await;
        return FailToProxy { error_code, can_reuse_downstream: false };
    }
    if let Some(response) = ctx.answer.take() {
        session.set_keepalive(None);
        let error_code = response.status.as_u16();
        let _ = local_response::send(session, ctx, response).await;
        return FailToProxy { error_code, can_reuse_downstream: false };
    }
    let kind = ctx.failed.get_or_insert_with(|| Failed::of(error)).kind;
    let Some(status) = kind.status() else {
        return FailToProxy { error_code: 0, can_reuse_downstream: false };
    };
    // Once an upstream was asked, Pingora gives the connection up after an error.
    let reuse = !kind.closes() && ctx.attempts == 0;
    if !reuse {
        session.set_keepalive(None);
    }
    let sent = match error_page::make(session, ctx, kind) {
        Some(page) => local_response::send(session, ctx, page).await.is_ok(),
        None => false,
    };
    FailToProxy { error_code: status.as_u16(), can_reuse_downstream: reuse && sent }
}
