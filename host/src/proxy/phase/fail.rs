//! `fail_to_connect`, `error_while_proxy` and `fail_to_proxy`: another peer where that is safe, the error
//! page where it is not.

use pingora::Error;
use pingora::proxy::{FailToProxy, Session};

use crate::proxy::ctx::Ctx;
use crate::proxy::failure::Failed;
use crate::proxy::local_response;

/// Nothing was sent yet, so any request may go to another peer. Whether there is one, `upstream_peer` says.
pub(crate) fn to_connect(ctx: &mut Ctx, mut error: Box<Error>) -> Box<Error> {
    ctx.failed = Some(Failed::of(&error));
    if let Some(peer) = &ctx.peer {
        peer.connect_failed();
    }
    error.set_retry(true);
    error
}

/// A kept-alive connection that the peer closed meanwhile is worth a second try on a new one, if the request
/// can be sent twice: idempotent, its body still at hand.
pub(crate) fn while_proxying(
    session: &mut Session,
    ctx: &mut Ctx,
    mut error: Box<Error>,
    client_reused: bool,
) -> Box<Error> {
    let method = ctx.chosen_method().unwrap_or(&session.req_header().method);
    if method.is_idempotent()
        && session.req_header().method.is_idempotent()
        && !session.as_ref().retry_buffer_truncated()
    {
        error.retry.decide_reuse(client_reused);
    } else {
        error.set_retry(false);
    }
    if error.retry() {
        // The peer is not at fault: it may be picked again.
        ctx.tried.pop();
    }
    error
}

/// Sends the error page, or the response that a plugin put in the upstream's place.
pub(crate) async fn to_proxy(session: &mut Session, ctx: &mut Ctx, error: &Error) -> FailToProxy {
    if let Some((head, body)) = ctx.replacement.take() {
        // The chain had it already. Pingora gives the connection up after an error.
        session.set_keepalive(None);
        let error_code = head.status.as_u16();
        // A client that can't be written to is gone; the log phase says so by the status.
        let _ = local_response::write(session, head, body).await;
        return FailToProxy { error_code, can_reuse_downstream: false };
    }
    let kind = ctx.failed.get_or_insert_with(|| Failed::of(error)).kind;
    let Some(status) = kind.status() else {
        return FailToProxy { error_code: 0, can_reuse_downstream: false };
    };
    let reuse = !kind.closes();
    if !reuse {
        session.set_keepalive(None);
    }
    let page = local_response::page(status, ctx.request_id());
    let sent = local_response::send(session, ctx, page).await.is_ok();
    FailToProxy { error_code: status.as_u16(), can_reuse_downstream: reuse && sent }
}
