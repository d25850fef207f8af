//! `upstream_request_filter`: the last look at what an attempt sends, and the upstream request phase of the
//! chain. Pingora has made the head fit the peer's protocol by now.

use http::{Version, header};
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::phase::Phase;
use crate::plugin::exchange::Decision;
use crate::proxy::ctx::{Ctx, RequestBody};
use crate::proxy::expectation;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{edit, grpc_web, mirror};
use crate::upstream::Endpoint;

use super::response_body::ResponseBody;

pub(crate) async fn run(session: &mut Session, head: &mut RequestHeader, ctx: &mut Ctx) -> Result<()> {
    // An attempt before this one may have begun with a response.
    ctx.response_body = ResponseBody::Untouched;
    if let Some(method) = ctx.chosen_method() {
        head.set_method(method.clone());
    }
    edit::attempt(head, session.req_header(), ctx);
    if head.uri.authority().is_none() && !head.headers.contains_key(header::HOST) {
        // HTTP/1.0 may go without; what is sent on is HTTP/1.1, which may not (RFC 9112, section 3.2).
        let peer = ctx.peer().and_then(Endpoint::address).map(|peer| peer.to_string()).unwrap_or_default();
        head.insert_header(header::HOST, peer)?;
    }
    if ctx.request_body == RequestBody::Streamed {
        // Nobody knows how long it will be.
        head.remove_header(&header::CONTENT_LENGTH);
        if head.version != Version::HTTP_2 {
            head.insert_header(header::TRANSFER_ENCODING, "chunked")?;
        }
    }
    grpc_web::ask(head, ctx);
    if let Some(chain) = ctx.chain().filter(|chain| chain.has(Phase::ResponseBody)) {
        // Plugins are to get whole bodies, and in plain bytes.
        head.remove_header(&header::RANGE);
        head.remove_header(&header::IF_RANGE);
        if chain.wants_identity() {
            head.remove_header(&header::ACCEPT_ENCODING);
        }
    }
    if ctx.chain().is_some_and(|chain| chain.has(Phase::UpstreamRequest)) {
        run_chain(head, ctx).await?;
    }
    if head.remove_header(&header::EXPECT).is_some() {
        expectation::meet(session, ctx).await?;
    }
    // A second attempt is sent the body from its start.
    ctx.received = 0;
    mirror::begin(session, head, ctx);
    Ok(())
}

/// # Errors
/// The attempt is not made: `fail_to_proxy` sends what the chain decided.
async fn run_chain(head: &mut RequestHeader, ctx: &mut Ctx) -> Result<()> {
    let failed = match ctx.run_upstream_request(head).await {
        Some(Decision::Next) => return Ok(()),
        Some(Decision::Respond { by, response }) => {
            ctx.decided_by = Some(by);
            ctx.answer = Some(response);
            return Err(Error::new(ErrorType::Custom("answered by a plugin")));
        }
        Some(Decision::Failed { by, failure }) => {
            let failed = Failed::because(Kind::Plugin(failure), format!("plugin `{by}`"));
            ctx.decided_by = Some(by);
            failed
        }
        None => Failed::because(Kind::Internal, "the attempt could not be lent to plugins"),
    };
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}
