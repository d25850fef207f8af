//! `request_filter`: the request phase of the route's chain, then the route's own action, and the body phase where
//! the chain wants the body whole. Afterwards the upstream is decided, or the request was answered.

use std::time::Duration;

use bytes::Bytes;
use http::header;
use pingora::Result;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::{Decision, Failure, Piece, Place, PluginResponse};
use crate::plugin::{BodyPlan, Chain};
use crate::proxy::action;
use crate::proxy::body_read::{self, Body};
use crate::proxy::ctx::{Ctx, RequestBody};
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{error_page, hop_by_hop, local_response};

use super::{empty_body, request_body};

/// How long a client whose body is refused may go on sending it, so that it gets to read the answer.
const LINGER: Duration = Duration::from_secs(2);

/// `true`: the request was answered here.
pub(crate) async fn run(session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
    super::body_limit::check_length(session.req_header(), ctx).map_err(|failed| fail(ctx, failed))?;
    empty_body::wait(session, ctx).await?;
    let plan = ctx.chain().map(Chain::request_body).unwrap_or_default();
    if plan != BodyPlan::None && !take_body(session, ctx, plan).await? {
        return refuse_body(session, ctx).await;
    }
    let mut response = None;
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Request)) {
        response = run_chain(session, ctx).await?;
    }
    if response.is_none() {
        response = action::settle(session.req_header(), ctx).map_err(|failed| fail(ctx, failed))?;
    }
    if let Some(response) = response {
        return answer(session, ctx, response).await;
    }
    match ctx.whole_body() {
        Some(body) => filter_whole(session, ctx, body).await,
        None => Ok(false),
    }
}

/// The response that a plugin made, or caused by its failure.
async fn run_chain(session: &mut Session, ctx: &mut Ctx) -> Result<Option<PluginResponse>> {
    if !ctx.lend_request(session, Phase::Request) {
        let failed = Failed::because(Kind::Internal, "the request could not be lent to plugins");
        return Err(fail(ctx, failed));
    }
    let decision = ctx.run_request().await;
    ctx.take_back_request(session);
    ctx.upstream = ctx.exchange().and_then(|exchange| exchange.upstream);
    Ok(match decision {
        Decision::Next => None,
        Decision::Respond { by, response } => {
            ctx.decided_by = Some(by);
            Some(response)
        }
        Decision::Failed { by, failure } => {
            ctx.failed = Some(Failed::because(Kind::Plugin(failure), format!("plugin `{by}`")));
            ctx.decided_by = Some(by);
            Some(failure_page(session, ctx, failure))
        }
    })
}

fn fail(ctx: &mut Ctx, failed: Failed) -> Box<pingora::Error> {
    let error = raise(&failed);
    ctx.failed = Some(failed);
    error
}

fn failure_page(session: &mut Session, ctx: &mut Ctx, failure: Failure) -> PluginResponse {
    // A plugin's failure has a page.
    let page = error_page::make(session, ctx, Kind::Plugin(failure));
    page.unwrap_or_else(|| local_response::page(failure.status(), ctx.request_id()))
}

async fn answer(session: &mut Session, ctx: &mut Ctx, response: PluginResponse) -> Result<bool> {
    ctx.upstream = None;
    local_response::send(session, ctx, response).await?;
    Ok(true)
}

/// Makes ready for the body phase, and reads the body where a plugin wants it whole. `false`: it is too large.
async fn take_body(session: &mut Session, ctx: &mut Ctx, plan: BodyPlan) -> Result<bool> {
    let framed = body_read::is_framed(session);
    if framed {
        hop_by_hop::strip_upgrade(session.req_header_mut());
    }
    let BodyPlan::Buffer { limit } = plan else {
        if framed {
            ctx.request_body = RequestBody::Streamed;
        }
        return Ok(true);
    };
    match body_read::read(session, ctx, limit).await? {
        Body::Whole(body) => {
            if framed {
                ctx.request_body = RequestBody::Whole;
            }
            ctx.keep_body(body);
            Ok(true)
        }
        Body::TooLarge => Ok(false),
    }
}

/// Answers 413, and lets the client finish for a while: closing on a client that writes would take the answer
/// from it.
async fn refuse_body(session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
    let kind = Kind::BodyTooLarge;
    ctx.failed = Some(Failed::new(kind));
    let waits = session.req_header().headers.contains_key(header::EXPECT) && !ctx.continued;
    session.set_keepalive(None);
    if let Some(page) = error_page::make(session, ctx, kind) {
        answer(session, ctx, page).await?;
    }
    if !waits && !session.as_ref().is_http2() {
        session.set_total_drain_timeout(Some(LINGER));
        let _ = session.drain_request_body().await;
    }
    Ok(true)
}

/// The body phase on all of the body; what comes out is what each attempt sends.
async fn filter_whole(session: &mut Session, ctx: &mut Ctx, body: Bytes) -> Result<bool> {
    let mut body = body;
    if ctx.chain().is_some_and(|chain| chain.has(Phase::RequestBody)) {
        let piece = Piece { data: body, place: Place::Last };
        match request_body::filter(session, ctx, piece).await {
            Ok(data) => body = data,
            Err(error) => {
                let response = match (ctx.answer.take(), ctx.failed.as_ref().map(|failed| failed.kind)) {
                    (Some(response), _) => response,
                    (None, Some(Kind::Plugin(failure))) => failure_page(session, ctx, failure),
                    _ => return Err(error),
                };
                return answer(session, ctx, response).await;
            }
        }
    }
    let head = session.req_header_mut();
    head.remove_header(&header::TRANSFER_ENCODING);
    head.insert_header(header::CONTENT_LENGTH, body.len())?;
    ctx.send_whole(session, body);
    Ok(false)
}
