//! What a route's configuration changes in a request and its response. An attempt is changed and not the request:
//! plugins, the log and a retry go on seeing what the client asked for.

mod fields;
mod path;
mod query;

#[cfg(fuzzing)]
pub(crate) mod fuzzing;

use http::uri::PathAndQuery;
use pingora::http::{RequestHeader, ResponseHeader};

use crate::config::model::{Edits, HostHeader};

use super::ctx::Ctx;
use super::heads;
use super::variables::Values;

/// A request whose changed target is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadEdit {
    #[error("the route's `path` makes a path of it that is not in its normal form")]
    NotNormal,
    #[error("the route's `path` or `query` makes a target of it that is too long or none")]
    NoTarget,
}

/// The target that an upstream is asked for, or a redirect leads to; `None` where it stays the client's.
///
/// # Errors
/// What comes out is no target in its normal form: it could be read as another path than it seems.
pub(crate) fn target(edits: &Edits, values: Values<'_>) -> Result<Option<PathAndQuery>, BadEdit> {
    if edits.path.is_empty() && edits.query.is_empty() {
        return Ok(None);
    }
    let (asked_path, asked_query) = values.target();
    // `OPTIONS *` asks for no path.
    if asked_path == "*" {
        return Ok(None);
    }
    let (path, added) = path::edited(&edits.path, asked_path)?;
    let query = query::edited(&edits.query, asked_query, added.as_deref(), |value| values.render(value));
    let text = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.into_owned(),
    };
    PathAndQuery::try_from(text).map(Some).map_err(|_| BadEdit::NoTarget)
}

/// Changes what an attempt sends: target, host and fields.
pub(crate) fn attempt(head: &mut RequestHeader, asked: &RequestHeader, ctx: &Ctx) {
    if let Some(target) = &ctx.target {
        head.set_uri(heads::with_target(&head.uri, target.clone()));
    }
    let Some(edits) = ctx.edits() else { return };
    let host = match &edits.host {
        HostHeader::Preserve => None,
        HostHeader::Peer => ctx.hold.as_ref().and_then(|hold| hold.peer().host()),
        HostHeader::Name(host) => Some(host),
    };
    if let Some(host) = host {
        heads::change(head, |head| heads::replace_host(head, host.clone()));
    }
    if !edits.request_headers.is_empty() {
        fields::edit(head, &edits.request_headers, Values::of(ctx, asked));
    }
}

/// Changes the head of a response on its way to the client. Framing is not in reach.
pub(crate) fn response(head: &mut ResponseHeader, asked: &RequestHeader, ctx: &Ctx) {
    if let Some(edits) = ctx.edits()
        && !edits.response_headers.is_empty()
    {
        fields::edit(head, &edits.response_headers, Values::of(ctx, asked));
    }
}
