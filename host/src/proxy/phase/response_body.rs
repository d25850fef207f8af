//! `response_body_filter`: the body phase of the route's chain, on an upstream's response: in pieces behind a head
//! that went out, or whole while the head waits. (Bodies that the proxy has go through `whole_body`.)

use bytes::{Bytes, BytesMut};
use http::{HeaderName, StatusCode, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::plugin::BodyPlan;
use crate::plugin::exchange::{BodyDecision, Failure, Piece, Place};
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{local_response, whole_body};

/// What plugins have to do with the body of the upstream's response.
#[derive(Debug, Default)]
pub(crate) enum ResponseBody {
    #[default]
    Untouched,
    /// They get its pieces as they come.
    Streamed,
    /// A replacement goes out: nothing of the upstream's does.
    Dropped,
    /// It is collected; its head waits in the stand-in.
    Collected { body: BytesMut, limit: usize },
}

impl ResponseBody {
    /// Whether the head of the upstream's response does not go out, or not yet.
    pub(super) fn is_withheld(&self) -> bool {
        matches!(self, ResponseBody::Dropped | ResponseBody::Collected { .. })
    }
}

/// Fields that tell about bytes that the client may not get.
const ABOUT_BYTES: [HeaderName; 5] = [
    header::ACCEPT_RANGES,
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

/// Decides how the body behind a head is given to the chain, and makes the head fit that.
///
/// # Errors
/// A plugin takes no such response: 502.
pub(crate) fn begin(session: &mut Session, ctx: &mut Ctx, head: &mut ResponseHeader) -> Result<()> {
    let plan = match ctx.fit_response(whole_body::traits(head)) {
        Ok(plan) => plan,
        Err(failed) => return refuse(ctx, failed),
    };
    if plan == BodyPlan::None {
        return Ok(());
    }
    disown_bytes(head);
    if let BodyPlan::Buffer { limit } = plan {
        let told = head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        if told.and_then(|value| value.parse::<usize>().ok()).is_none_or(|length| length <= limit) {
            return hold(session, ctx, head, limit);
        }
        match overflow(ctx, head)? {
            BodyPlan::Stream => {}
            _ => return Ok(()),
        }
    }
    head.remove_header(&header::CONTENT_LENGTH);
    head.insert_header(header::TRANSFER_ENCODING, "chunked")?;
    ctx.response_body = ResponseBody::Streamed;
    Ok(())
}

/// A weak `etag` says that the bytes may differ (RFC 9110, section 8.8.1).
pub(crate) fn disown_bytes(head: &mut ResponseHeader) {
    for name in &ABOUT_BYTES {
        head.remove_header(name);
    }
    let strong = head.headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""));
    if let Some(tag) = strong {
        let weak = [b"W/", tag.as_bytes()].concat();
        if let Ok(weak) = http::HeaderValue::from_bytes(&weak) {
            let _ = head.insert_header(header::ETAG, weak);
        }
    }
}

/// Has the head wait for its body. What goes on in its place is dropped by the stand-in.
fn hold(session: &mut Session, ctx: &mut Ctx, head: &mut ResponseHeader, limit: usize) -> Result<()> {
    let placeholder = ResponseHeader::build_no_case(StatusCode::OK, None)?;
    let held = Box::new(std::mem::replace(head, placeholder));
    ctx.stand_in(session).hold(held);
    ctx.response_body = ResponseBody::Collected { body: BytesMut::new(), limit };
    Ok(())
}

/// How a body goes on that is larger than a plugin takes.
fn overflow(ctx: &mut Ctx, head: &ResponseHeader) -> Result<BodyPlan> {
    let traits = crate::plugin::Traits { too_large: true, ..whole_body::traits(head) };
    match ctx.fit_response(traits) {
        Ok(plan) => Ok(plan),
        Err(failed) => {
            refuse(ctx, failed)?;
            Ok(BodyPlan::None)
        }
    }
}

fn refuse(ctx: &mut Ctx, failed: Failed) -> Result<()> {
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}

/// # Errors
/// The response can't go on.
pub(crate) fn run(
    session: &mut Session,
    ctx: &mut Ctx,
    body: &mut Option<Bytes>,
    end_of_stream: bool,
) -> Result<()> {
    match &mut ctx.response_body {
        ResponseBody::Untouched => Ok(()),
        ResponseBody::Dropped => {
            *body = None;
            Ok(())
        }
        ResponseBody::Streamed => {
            let place = if end_of_stream { Place::Last } else { Place::Inside };
            let piece = Piece { data: body.take().unwrap_or_default(), place };
            *body = Some(stream(session, ctx, piece)?);
            Ok(())
        }
        ResponseBody::Collected { body: collected, limit } => {
            let piece = body.take().unwrap_or_default();
            let fits = collected.len() + piece.len() <= *limit;
            collected.extend_from_slice(&piece);
            match (fits, end_of_stream) {
                (false, true) => spill(session, ctx, Place::Last),
                (false, false) => spill(session, ctx, Place::Inside),
                (true, true) => finish(session, ctx),
                (true, false) => Ok(()),
            }
        }
    }
}

/// The body ended without a last piece: trailers follow.
///
/// # Errors
/// The response can't go on.
pub(crate) fn trailers(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    match ctx.response_body {
        ResponseBody::Untouched | ResponseBody::Dropped => Ok(()),
        ResponseBody::Streamed => {
            let piece = Piece { data: Bytes::new(), place: Place::Last };
            let rest = stream(session, ctx, piece)?;
            ctx.response_body = ResponseBody::Untouched;
            if !rest.is_empty() {
                ctx.stand_in(session).emit(rest);
            }
            Ok(())
        }
        ResponseBody::Collected { .. } => finish(session, ctx),
    }
}

fn stream(session: &mut Session, ctx: &mut Ctx, piece: Piece) -> Result<Bytes> {
    let (by, failure) = match ctx.run_response_body(session, None, piece) {
        Some(BodyDecision::Pass(data)) => return Ok(data),
        // The head is gone.
        Some(BodyDecision::Respond { by, .. }) => (by, Failure::BadResponse),
        Some(BodyDecision::Failed { by, failure }) => (by, failure),
        None => {
            return Err(Error::explain(ErrorType::InternalError, "the body could not be lent to plugins"));
        }
    };
    let failed = Failed::because(Kind::Plugin(failure), format!("plugin `{by}`"));
    ctx.decided_by = Some(by);
    refuse(ctx, failed).map(|()| Bytes::new())
}

/// All of the body is there: the chain has it, and head and body go out.
fn finish(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    let Some((mut head, body)) = collected(session, ctx) else { return Ok(()) };
    let mut body = whole_body::filter(session, ctx, &mut head, body)?;
    if local_response::is_bodiless(head.status) {
        body = Bytes::new();
    }
    local_response::frame(&mut head, body.len())?;
    ctx.stand_in(session).release(head, body);
    Ok(())
}

/// The body is larger than the buffer: what was collected goes on, without the plugins that wanted it whole.
fn spill(session: &mut Session, ctx: &mut Ctx, place: Place) -> Result<()> {
    let Some((mut head, mut body)) = collected(session, ctx) else { return Ok(()) };
    if overflow(ctx, &head)? == BodyPlan::Stream {
        head.remove_header(&header::CONTENT_LENGTH);
        ctx.response_body = ResponseBody::Streamed;
        body = stream(session, ctx, Piece { data: body, place })?;
    }
    if !head.headers.contains_key(header::CONTENT_LENGTH) {
        head.insert_header(header::TRANSFER_ENCODING, "chunked")?;
    }
    super::response::fit_client(session, ctx, &mut head);
    ctx.stand_in(session).release(head, body);
    Ok(())
}

fn collected(session: &mut Session, ctx: &mut Ctx) -> Option<(Box<ResponseHeader>, Bytes)> {
    let ResponseBody::Collected { body, .. } = std::mem::take(&mut ctx.response_body) else { return None };
    let head = ctx.stand_in(session).held()?;
    Some((head, body.freeze()))
}
