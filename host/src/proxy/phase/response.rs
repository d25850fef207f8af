//! `response_filter`: the response phase of the route's chain, on an upstream's response. (Responses that
//! the proxy makes go through `local_response`.)

use bytes::Bytes;
use http::{Method, StatusCode, Version, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::phase::Phase;
use crate::plugin::exchange::Decision;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::local_response::{self, is_bodiless};
use crate::proxy::{edit, grpc_web, server_timing, whole_body};

use super::response_body::{self, ResponseBody};

/// # Errors
/// The response can't go on.
pub(crate) async fn run(session: &mut Session, head: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
    if ctx.is_draining() || session.is_process_shutting_down() {
        ctx.close_client(session);
    }
    // 100 to 103 are no responses; 101 is one.
    if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(());
    }
    grpc_web::answer(head, ctx);
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Response)) {
        run_chain(session, head, ctx).await?;
        if matches!(ctx.response_body, ResponseBody::Dropped) {
            return Ok(());
        }
    }
    if ctx.chosen_method() == Some(&Method::HEAD) && session.req_header().method != Method::HEAD {
        // A plugin made it a HEAD: the upstream tells the length of a body that it doesn't send.
        local_response::frame(head, 0)?;
    }
    server_timing::tell(session, ctx, head);
    edit::response(head, session.req_header(), ctx);
    if ctx.has_response_body() {
        if whole_body::is_there(session, head) {
            response_body::begin(session, ctx, head)?;
        } else if session.req_header().method == Method::HEAD {
            // Nobody knows how long the body of a GET would be.
            head.remove_header(&header::CONTENT_LENGTH);
            response_body::disown_bytes(head);
        }
    }
    fit_client(session, ctx, head);
    if !ctx.response_body.is_withheld() {
        ctx.traces.status = head.status.as_u16();
    }
    Ok(())
}

async fn run_chain(session: &mut Session, head: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
    let before = head.status;
    if !ctx.lend_response(session, head) {
        return Err(Error::explain(ErrorType::InternalError, "the response could not be lent to plugins"));
    }
    let decision = ctx.run_response().await;
    ctx.take_back_response(session, head);
    let body = match decision {
        Decision::Next if is_bodiless(before) == is_bodiless(head.status) => return Ok(()),
        // Now it has no body where the upstream sends one, or the other way round.
        Decision::Next => Bytes::new(),
        Decision::Respond { by, response } => {
            ctx.decided_by = Some(by);
            response.body
        }
        Decision::Failed { by, failure } => {
            let page = local_response::page(failure.status(), ctx.request_id());
            ctx.failed = Some(Failed::because(Kind::Plugin(failure), format!("plugin `{by}`")));
            ctx.decided_by = Some(by);
            local_response::make_page(head, &page)?;
            page.body
        }
    };
    replace(session, head, ctx, body)
}

/// Puts a replacement in the place of the upstream's response. An answer to HEAD has no body either way: its head
/// goes on as it is.
fn replace(session: &mut Session, head: &mut ResponseHeader, ctx: &mut Ctx, body: Bytes) -> Result<()> {
    if session.req_header().method == Method::HEAD {
        return local_response::frame(head, body.len());
    }
    let body = whole_body::of_local(session, ctx, head, body)?;
    server_timing::tell(session, ctx, head);
    edit::response(head, session.req_header(), ctx);
    local_response::frame(head, body.len())?;
    let placeholder = ResponseHeader::build_no_case(StatusCode::OK, None)?;
    let replacement = Box::new(std::mem::replace(head, placeholder));
    ctx.stand_in(session).replace(replacement, body);
    ctx.response_body = ResponseBody::Dropped;
    Ok(())
}

/// A client of HTTP/1.0 knows no chunks: a body of unknown length ends with the connection (RFC 9112, section
/// 6.1).
pub(super) fn fit_client(session: &mut Session, ctx: &Ctx, head: &mut ResponseHeader) {
    if session.req_header().version == Version::HTTP_10
        && head.headers.contains_key(header::TRANSFER_ENCODING)
    {
        head.remove_header(&header::TRANSFER_ENCODING);
        ctx.close_client(session);
    }
}
