//! How long a request's body may get where its head does not tell: counted as it comes.

use bytes::Bytes;
use pingora::Result;

use crate::proxy::ctx::{Ctx, RequestBody};
use crate::proxy::failure::{Failed, Kind, raise};

/// # Errors
/// The body is too long (413).
pub(crate) fn run(piece: Option<&Bytes>, ctx: &mut Ctx) -> Result<()> {
    if ctx.request_body == RequestBody::Whole {
        // It was counted when it was read; this is what a plugin made of it, once more for each attempt.
        return Ok(());
    }
    ctx.received += piece.map_or(0, Bytes::len) as u64;
    if ctx.received <= ctx.generation.policy.limits.body_bytes {
        return Ok(());
    }
    let failed = Failed::new(Kind::BodyTooLarge);
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}
