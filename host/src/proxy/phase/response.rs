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
use crate::proxy::edit;
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::local_response::{self, is_bodiless};
use crate::proxy::server_timing;

/// Carries a request to `fail_to_proxy`, where the replacement waits.
const REPLACED: ErrorType = ErrorType::Custom("response replaced by a plugin");

/// # Errors
/// The upstream's response is not to go on: another one takes its place, through `fail_to_proxy`.
pub(crate) async fn run(session: &mut Session, head: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
    if ctx.is_draining() || session.is_process_shutting_down() {
        session.set_keepalive(None);
    }
    // 100 to 103 are no responses; 101 is one.
    if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(());
    }
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Response)) {
        run_chain(session, head, ctx).await?;
    }
    if ctx.chosen_method() == Some(&Method::HEAD) && session.req_header().method != Method::HEAD {
        // A plugin made it a HEAD: the upstream tells the length of a body that it doesn't send.
        local_response::frame(head, 0)?;
    }
    server_timing::tell(session, ctx, head);
    edit::response(head, session.req_header(), ctx);
    fit_client(session, head);
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

/// Ends the exchange with the upstream, whose body may be long or never come, and has the replacement sent
/// in its place. An answer to HEAD has no body either way: its head goes on as it is.
fn replace(session: &Session, head: &mut ResponseHeader, ctx: &mut Ctx, body: Bytes) -> Result<()> {
    if session.req_header().method == Method::HEAD {
        local_response::frame(head, body.len())?;
        return Ok(());
    }
    server_timing::tell(session, ctx, head);
    let placeholder = ResponseHeader::build_no_case(StatusCode::OK, None)?;
    ctx.replacement = Some((Box::new(std::mem::replace(head, placeholder)), body));
    Err(Error::new(REPLACED))
}

/// A client of HTTP/1.0 knows no chunks: a body of unknown length ends with the connection (RFC 9112, section
/// 6.1).
fn fit_client(session: &mut Session, head: &mut ResponseHeader) {
    if session.req_header().version == Version::HTTP_10
        && head.headers.contains_key(header::TRANSFER_ENCODING)
    {
        head.remove_header(&header::TRANSFER_ENCODING);
        session.set_keepalive(None);
    }
}
