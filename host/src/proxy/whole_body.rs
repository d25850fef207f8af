//! A response's body that is there as a whole, and the body phase of the route's chain on it. Knows no upstreams.

use bytes::Bytes;
use http::{Method, StatusCode, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::plugin::exchange::{BodyDecision, Piece, Place};
use crate::plugin::{BodyPlan, Traits};

use super::ctx::Ctx;
use super::failure::{Failed, Kind};
use super::local_response::{self, is_bodiless};

/// What of a response decides which plugins get its body.
pub(crate) fn traits(head: &http::response::Parts) -> Traits {
    let is = |name, wanted: &[u8]| {
        let value = head.headers.get(name);
        value.is_some_and(|value| {
            let value = value.as_bytes().trim_ascii();
            value.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted))
        })
    };
    Traits {
        coded: head.headers.contains_key(header::CONTENT_ENCODING)
            && !is(header::CONTENT_ENCODING, b"identity"),
        partial: head.status == StatusCode::PARTIAL_CONTENT,
        events: is(header::CONTENT_TYPE, b"text/event-stream"),
        too_large: false,
    }
}

/// Whether the response to a request has a body that the chain may see.
pub(crate) fn is_there(session: &Session, head: &ResponseHeader) -> bool {
    !head.status.is_informational()
        && !is_bodiless(head.status)
        && session.req_header().method != Method::HEAD
        && head.headers.get(header::CONTENT_LENGTH).is_none_or(|length| length != "0")
}

/// The body of a response that the proxy or a plugin made, as the chain leaves it. What is unfit for a plugin
/// passes without it: it is no upstream's.
pub(crate) fn of_local(
    session: &mut Session,
    ctx: &mut Ctx,
    head: &mut ResponseHeader,
    body: Bytes,
) -> Result<Bytes> {
    if body.is_empty() || !ctx.has_response_body() || !is_there(session, head) {
        return Ok(body);
    }
    match ctx.fit_response(traits(head)) {
        Ok(BodyPlan::None) | Err(_) => Ok(body),
        Ok(_) => filter(session, ctx, head, body),
    }
}

/// What the chain makes of head and body. A failure of a plugin makes an error page of both.
///
/// # Errors
/// Head and body can't be lent.
pub(crate) fn filter(
    session: &mut Session,
    ctx: &mut Ctx,
    head: &mut ResponseHeader,
    body: Bytes,
) -> Result<Bytes> {
    let piece = Piece { data: body, place: Place::Last };
    let (by, response) = match ctx.run_response_body(session, Some(head), piece) {
        Some(BodyDecision::Pass(data)) => return Ok(data),
        Some(BodyDecision::Respond { by, response }) => (by, response),
        Some(BodyDecision::Failed { by, failure }) => {
            ctx.failed = Some(Failed::because(Kind::Plugin(failure), format!("plugin `{by}`")));
            (by, local_response::page(failure.status(), ctx.request_id()))
        }
        None => {
            return Err(Error::explain(ErrorType::InternalError, "the body could not be lent to plugins"));
        }
    };
    ctx.decided_by = Some(by);
    *head = local_response::head(response.status, &response.headers)?;
    Ok(response.body)
}
