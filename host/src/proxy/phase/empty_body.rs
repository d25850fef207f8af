//! A body of HTTP/2 whose length is said to be 0, while its stream goes on. Pingora would send the request off without
//! waiting for the end, and what then comes may show that the request was malformed (RFC 9113, section 8.1.1).

use http::{Version, header};
use pingora::Result;
use pingora::proxy::Session;
use tokio::time::timeout;

use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};

/// Waits for the end of such a stream.
///
/// # Errors
/// There is a body all the same, or the end does not come in time.
pub(super) async fn wait(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    let head = session.req_header();
    if head.version != Version::HTTP_2
        || head.headers.get(header::CONTENT_LENGTH).is_none_or(|length| length != "0")
    {
        return Ok(());
    }
    let ended = timeout(ctx.generation.policy.limits.body, async {
        loop {
            match session.read_request_body().await {
                Ok(None) => return true,
                Ok(Some(piece)) if piece.is_empty() => {}
                // The library resets the stream by itself.
                Ok(Some(_)) | Err(_) => return false,
            }
        }
    });
    let failed = match ended.await {
        Ok(true) => return Ok(()),
        Ok(false) => Failed::because(Kind::BadRequest, "there is a body, and `content-length` is 0"),
        Err(_) => Failed::new(Kind::RequestTimeout),
    };
    let error = raise(&failed);
    ctx.failed = Some(failed);
    Err(error)
}
