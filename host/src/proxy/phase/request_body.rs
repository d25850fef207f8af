//! `request_body_filter`: what of the client's body goes to the upstream, by way of the chain's body phase.

use bytes::Bytes;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::plugin::exchange::{BodyDecision, Piece, Place};
use crate::proxy::ctx::{Ctx, RequestBody};
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::mirror;

/// HTTP/2 clients often end a body with an empty frame. Pingora would write it to an HTTP/1.1 upstream as a
/// chunk of length 0, which is the end, and then the end once more: the second one would be read as the start
/// of the next request on that connection (RFC 9112, section 7.1).
///
/// # Errors
/// The body is not to go on: `fail_to_proxy` sends what the chain decided.
pub(crate) async fn run(
    session: &mut Session,
    ctx: &mut Ctx,
    body: &mut Option<Bytes>,
    end_of_stream: bool,
) -> Result<()> {
    if matches!(ctx.request_body, RequestBody::Streamed | RequestBody::Begun) && !session.was_upgraded() {
        ctx.request_body = RequestBody::Begun;
        let place = if end_of_stream { Place::Last } else { Place::Inside };
        let piece = Piece { data: body.take().unwrap_or_default(), place };
        *body = Some(filter(session, ctx, piece).await?);
    }
    mirror::body(ctx, body.as_ref(), end_of_stream);
    if end_of_stream && body.as_ref().is_some_and(Bytes::is_empty) {
        *body = None;
    }
    Ok(())
}

/// What the chain makes of a piece.
///
/// # Errors
/// Nothing goes on: the context says why.
pub(crate) async fn filter(session: &mut Session, ctx: &mut Ctx, piece: Piece) -> Result<Bytes> {
    let failed = match ctx.run_request_body(session, piece).await {
        Some(BodyDecision::Pass(data)) => return Ok(data),
        Some(BodyDecision::Respond { by, response }) => {
            ctx.decided_by = Some(by);
            ctx.answer = Some(response);
            return Err(Error::new(ErrorType::Custom("answered by a plugin")));
        }
        Some(BodyDecision::Failed { by, failure }) => {
            let failed = Failed::because(Kind::Plugin(failure), format!("plugin `{by}`"));
            ctx.decided_by = Some(by);
            failed
        }
        None => Failed::because(Kind::Internal, "the body could not be lent to plugins"),
    };
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}
