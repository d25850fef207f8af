//! How long a request's body may get: the route's limit, or else the server's. What the head tells is looked at
//! before anything is read, the rest is counted as it comes.

use bytes::Bytes;
use http::header;
use pingora::Result;
use pingora::http::RequestHeader;

use crate::proxy::ctx::{Ctx, RequestBody};
use crate::proxy::failure::{Failed, Kind, raise};

/// The server's limit was held before the route was known.
///
/// # Errors
/// The length that the head tells is above the route's limit.
pub(crate) fn check_length(head: &RequestHeader, ctx: &Ctx) -> std::result::Result<(), Failed> {
    let Some(limit) = ctx.entry().and_then(|entry| entry.max_body) else { return Ok(()) };
    let length = head.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    // One that does not fit is above any limit; one that is no number was refused.
    match length.map(|digits| digits.parse::<u64>().unwrap_or(u64::MAX)) {
        Some(length) if length > limit => Err(Failed::new(Kind::BodyTooLarge)),
        _ => Ok(()),
    }
}

/// # Errors
/// The body is too long (413).
pub(crate) fn run(piece: Option<&Bytes>, ctx: &mut Ctx) -> Result<()> {
    if ctx.request_body == RequestBody::Whole {
        // It was counted when it was read; this is what a plugin made of it, once more for each attempt.
        return Ok(());
    }
    ctx.received += piece.map_or(0, Bytes::len) as u64;
    let limit = ctx.entry().and_then(|entry| entry.max_body);
    if ctx.received <= limit.unwrap_or(ctx.generation.policy.limits.body_bytes) {
        return Ok(());
    }
    let failed = Failed::new(Kind::BodyTooLarge);
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}
