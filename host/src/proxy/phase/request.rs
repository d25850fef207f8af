//! `request_filter`: the request phase of the route's chain. Afterwards the upstream is decided.

use pingora::Result;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::Decision;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{error_page, local_response};

/// `true`: the request was answered here.
pub(crate) async fn run(session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
    ctx.upstream = ctx.entry().map(|entry| entry.upstream);
    if !ctx.chain().is_some_and(|chain| chain.has(Phase::Request)) {
        return Ok(false);
    }
    if !ctx.lend_request(session, Phase::Request) {
        let failed = Failed::because(Kind::Internal, "the request could not be lent to plugins");
        let error = raise(&failed);
        ctx.failed = Some(failed);
        return Err(error);
    }
    let decision = ctx.run_request().await;
    ctx.take_back_request(session);
    if let Some(chosen) = ctx.exchange().and_then(|exchange| exchange.upstream) {
        ctx.upstream = Some(chosen);
    }
    let response = match decision {
        Decision::Next => return Ok(false),
        Decision::Respond { by, response } => {
            ctx.decided_by = Some(by);
            response
        }
        Decision::Failed { by, failure } => {
            ctx.failed = Some(Failed::because(Kind::Plugin(failure), format!("plugin `{by}`")));
            ctx.decided_by = Some(by);
            // A plugin's failure has a page.
            let page = error_page::make(session, ctx, Kind::Plugin(failure));
            page.unwrap_or_else(|| local_response::page(failure.status(), ctx.request_id()))
        }
    };
    ctx.upstream = None;
    local_response::send(session, ctx, response).await?;
    Ok(true)
}
