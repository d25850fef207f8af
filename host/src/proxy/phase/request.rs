//! `request_filter`: the request phase of the route's chain, and then the route's own action. Afterwards the
//! upstream is decided, or the request was answered.

use pingora::Result;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::{Decision, PluginResponse};
use crate::proxy::action;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{error_page, local_response};

/// `true`: the request was answered here.
pub(crate) async fn run(session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
    let mut response = None;
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Request)) {
        response = run_chain(session, ctx).await?;
    }
    if response.is_none() {
        response = action::settle(session.req_header(), ctx).map_err(|failed| fail(ctx, failed))?;
    }
    let Some(response) = response else { return Ok(false) };
    ctx.upstream = None;
    local_response::send(session, ctx, response).await?;
    Ok(true)
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
            // A plugin's failure has a page.
            let page = error_page::make(session, ctx, Kind::Plugin(failure));
            Some(page.unwrap_or_else(|| local_response::page(failure.status(), ctx.request_id())))
        }
    })
}

fn fail(ctx: &mut Ctx, failed: Failed) -> Box<pingora::Error> {
    let error = raise(&failed);
    ctx.failed = Some(failed);
    error
}
