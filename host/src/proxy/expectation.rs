//! `Expect: 100-continue`: the expectation is the proxy's to meet, once it has decided to take the body (RFC 9110,
//! section 10.1.1). Knows no phases.

use http::{Version, header};
use pingora::Result;
use pingora::proxy::Session;

use super::ctx::Ctx;

/// Sends `100 Continue` to a client that waits for it, once.
///
/// # Errors
/// The client can't be written to.
pub(crate) async fn meet(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    let head = session.req_header();
    if ctx.continued || head.version != Version::HTTP_11 || !head.headers.contains_key(header::EXPECT) {
        return Ok(());
    }
    // Who sends nothing waits for nothing.
    if session.is_body_empty() {
        return Ok(());
    }
    ctx.continued = true;
    // Pingora would close behind any response, an interim one, too, that precedes the end of the body.
    session.set_close_on_response_before_downstream_finish(false);
    session.write_continue_response().await?;
    session.set_close_on_response_before_downstream_finish(true);
    Ok(())
}
