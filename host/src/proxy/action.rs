//! What a route does with a request that no plugin answered: an upstream is asked, or the route answers by itself.
//! An upstream that a plugin chose takes the place of the route's action.

use http::{HeaderValue, header};
use pingora::http::RequestHeader;

use crate::config::model::{Action, Redirect, Respond};
use crate::plugin::exchange::PluginResponse;

use super::ctx::Ctx;
use super::failure::{Failed, Kind};
use super::variables::Values;
use super::{edit, split};

/// Decides the upstream and what it is asked for. The response, where the route makes it.
///
/// # Errors
/// The request can't be changed as the route says, or redirected.
pub(crate) fn settle(head: &RequestHeader, ctx: &mut Ctx) -> Result<Option<PluginResponse>, Failed> {
    if let Some(edits) = ctx.edits() {
        let target = edit::target(edits, Values::of(ctx, head));
        ctx.target = target.map_err(|bad| Failed::because(Kind::BadRequest, bad))?;
    }
    if ctx.upstream.is_some() {
        return Ok(None);
    }
    match ctx.entry().map(|entry| &entry.action) {
        Some(Action::Upstream(id)) => {
            ctx.upstream = Some(*id);
            Ok(None)
        }
        Some(Action::Split(split)) => {
            let chosen = split::choose(split, head, ctx.facts.as_ref());
            if let Some(counter) = ctx.entry().and_then(|entry| entry.shares.get(chosen)) {
                counter.inc();
            }
            ctx.upstream = split.shares.get(chosen).map(|share| share.upstream);
            Ok(None)
        }
        Some(Action::Redirect(redirect)) => redirected(redirect, head, ctx).map(Some),
        Some(Action::Respond(respond)) => Ok(Some(fixed(respond))),
        None => Err(Failed::because(Kind::Internal, "the request has no route")),
    }
}

fn redirected(redirect: &Redirect, head: &RequestHeader, ctx: &Ctx) -> Result<PluginResponse, Failed> {
    let mut values = Values::of(ctx, head);
    if let Some(target) = &ctx.target {
        values = values.with_target(target);
    }
    let location = HeaderValue::try_from(location(redirect, values)?)
        .map_err(|_| Failed::because(Kind::Internal, "the redirect's target is no field value"))?;
    Ok(PluginResponse {
        status: redirect.status,
        headers: vec![(header::LOCATION, location)],
        body: bytes::Bytes::new(),
    })
}

/// Where a redirect leads to.
///
/// # Errors
/// It needs the host of a request that has none.
pub(crate) fn location(redirect: &Redirect, values: Values<'_>) -> Result<String, Failed> {
    let location = values.render(&redirect.to);
    // `https:///path` leads nowhere: only HTTP/1.0 goes without a host.
    if values.host().is_empty() && location.contains(":///") {
        return Err(Failed::because(Kind::BadRequest, "a redirect needs a host, and the request has none"));
    }
    Ok(location)
}

fn fixed(respond: &Respond) -> PluginResponse {
    PluginResponse { status: respond.status, headers: respond.headers.clone(), body: respond.body.clone() }
}
