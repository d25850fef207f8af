//! `response_filter`: the response phase of the route's chain, on an upstream's response. (Responses that
//! the proxy makes go through `local_response`.)

use http::{Method, StatusCode, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::phase::Phase;
use crate::plugin::exchange::{Decision, PluginResponse};
use crate::proxy::ctx::{BodyOverride, Ctx};
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::local_response;

/// Carries a request to `fail_to_proxy`, where the replacement waits.
const REPLACED: ErrorType = ErrorType::Custom("response replaced by a plugin");

pub(crate) async fn run(session: &mut Session, head: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
    if session.is_process_shutting_down() {
        session.set_keepalive(None);
    }
    // 100 to 103 are no responses; 101 is one.
    let interim = head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS;
    if interim || !ctx.chain().is_some_and(|chain| chain.has(Phase::Response)) {
        return Ok(());
    }
    let before = head.status;
    let carries_body = carries_body(session, head);
    if !ctx.lend_response(session, head) {
        return Err(Error::explain(ErrorType::InternalError, "the response could not be lent to plugins"));
    }
    let decision = ctx.run_response().await;
    ctx.take_back_response(session, head);
    let replacement = match decision {
        Decision::Next => {
            if head.status != before && is_bodiless(head.status) {
                ctx.body = BodyOverride::Sent;
                frame(head, 0);
            }
            return Ok(());
        }
        Decision::Respond { by, response } => {
            ctx.decided_by = Some(by);
            response
        }
        Decision::Failed { by, failure } => {
            let page = local_response::page(failure.status(), ctx.request_id());
            ctx.failed = Some(Failed::because(Kind::Plugin(failure), format!("plugin `{by}`")));
            ctx.decided_by = Some(by);
            local_response::make_page(head, &page)?;
            page
        }
    };
    replace(session, head, ctx, replacement, carries_body)
}

/// Puts the replacement's body where the upstream's was. Where the upstream sends none there is nothing to
/// put it into: then the exchange ends, and `fail_to_proxy` sends the replacement by itself.
fn replace(
    session: &mut Session,
    head: &mut ResponseHeader,
    ctx: &mut Ctx,
    replacement: PluginResponse,
    carries_body: bool,
) -> Result<()> {
    let no_body = session.req_header().method == Method::HEAD || is_bodiless(head.status);
    if !carries_body && !no_body && !replacement.body.is_empty() {
        let headers = head.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        ctx.replacement = Some(PluginResponse { status: head.status, headers, body: replacement.body });
        return Err(Error::new(REPLACED));
    }
    frame(head, replacement.body.len());
    ctx.body = BodyOverride::Send(replacement.body);
    Ok(())
}

/// Makes the framing fields fit a body of that length.
fn frame(head: &mut ResponseHeader, length: usize) {
    head.remove_header(&header::TRANSFER_ENCODING);
    head.remove_header(&header::CONTENT_LENGTH);
    if !is_bodiless(head.status) {
        let _ = head.insert_header(header::CONTENT_LENGTH, length);
    }
}

fn is_bodiless(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Whether body chunks follow this head. Pingora marks a body of unknown length as chunked before this hook.
fn carries_body(session: &Session, head: &ResponseHeader) -> bool {
    if session.req_header().method == Method::HEAD || is_bodiless(head.status) {
        return false;
    }
    let length = head.headers.get(header::CONTENT_LENGTH).map(|value| value.as_bytes() != b"0");
    length.unwrap_or_else(|| head.headers.contains_key(header::TRANSFER_ENCODING))
}
