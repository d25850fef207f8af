//! A request's body, read whole before a peer is chosen, for plugins that decide by it. Knows no plugins.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use tokio::time::timeout;

use super::ctx::Ctx;
use super::expectation;

/// Between two reads. As long as Pingora waits on HTTP/1; on HTTP/2 it would wait without end.
const SILENCE: Duration = Duration::from_secs(60);

/// Room that a length that a client only announces gets at once.
const FIRST_ROOM: usize = 64 * 1024;

/// What came of reading it.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Bytes),
    /// It is larger than the limit.
    TooLarge,
}

/// Whether a request carries a body, be it an empty one: by its framing on HTTP/1, by its frames on HTTP/2.
pub(crate) fn is_framed(session: &mut Session) -> bool {
    let headers = &session.req_header().headers;
    headers.contains_key(header::CONTENT_LENGTH)
        || headers.contains_key(header::TRANSFER_ENCODING)
        || !session.is_body_empty()
}

/// Reads all of it, at most `limit` bytes, and no more than any request may have. A client that waits for `100 Continue` gets it, unless it says
/// already that its body is too large.
///
/// # Errors
/// The client is gone or silent, or the body is framed wrongly.
pub(crate) async fn read(session: &mut Session, ctx: &mut Ctx, limit: usize) -> Result<Body> {
    let most = usize::try_from(ctx.generation.policy.limits.body_bytes).unwrap_or(usize::MAX);
    let limit = limit.min(most);
    let told = session.req_header().headers.get(header::CONTENT_LENGTH);
    let told = told.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|length| length > limit) {
        return Ok(Body::TooLarge);
    }
    if session.is_body_empty() {
        return Ok(Body::Whole(Bytes::new()));
    }
    expectation::meet(session, ctx).await?;
    let mut body = BytesMut::with_capacity(told.unwrap_or(0).min(FIRST_ROOM));
    loop {
        let read = timeout(SILENCE, session.read_request_body()).await;
        let read = read.unwrap_or_else(|_| Err(Error::explain(ErrorType::ReadTimedout, "reading the body")));
        match read.map_err(|error| error.into_down())? {
            Some(chunk) if body.len() + chunk.len() > limit => return Ok(Body::TooLarge),
            // A body of one read is kept as it came.
            Some(chunk) if body.is_empty() && told == Some(chunk.len()) => return Ok(Body::Whole(chunk)),
            Some(chunk) => body.extend_from_slice(&chunk),
            None => return Ok(Body::Whole(body.freeze())),
        }
    }
}
