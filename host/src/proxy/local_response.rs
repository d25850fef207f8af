//! Responses that the proxy makes itself: a plugin's answers and error pages. They take the same way out
//! as an upstream's, through the response phase of the chain. The host owns their framing.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, Version, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;

use crate::phase::Phase;
use crate::plugin::exchange::{Decision, PluginResponse};

use super::ctx::Ctx;
use super::edit;
use super::failure::{Failed, Kind};
use super::server_timing;
use super::whole_body;

/// The field that carries the request's id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Builds a head without framing.
pub(crate) fn head(status: StatusCode, headers: &[(HeaderName, HeaderValue)]) -> Result<ResponseHeader> {
    let mut head = ResponseHeader::build(status, Some(headers.len() + 2))?;
    for (name, value) in headers {
        head.append_header(name.clone(), value.clone())?;
    }
    Ok(head)
}

/// The page for a failure: status, reason and request id, nothing else.
pub(crate) fn page(status: StatusCode, request_id: &str) -> PluginResponse {
    let reason = status.canonical_reason().unwrap_or("error");
    let mut headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
    let mut body = format!("{} {reason}\n", status.as_u16());
    if !request_id.is_empty() {
        body.push_str("request id: ");
        body.push_str(request_id);
        body.push('\n');
        if let Ok(value) = HeaderValue::from_str(request_id) {
            headers.push((REQUEST_ID, value));
        }
    }
    headers.push((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers
            .push((header::ALLOW, HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")));
    }
    PluginResponse { status, headers, body: body.into() }
}

/// Makes an error page of a head that has its status already, and what other plugins added to it.
pub(crate) fn make_page(head: &mut ResponseHeader, page: &PluginResponse) -> Result<()> {
    for (name, value) in &page.headers {
        head.insert_header(name.clone(), value.clone())?;
    }
    Ok(())
}

/// Sends a response after the response phase of the route's chain had it. Does nothing where a head went
/// out already.
///
/// # Errors
/// The client can't be written to.
pub(crate) async fn send(session: &mut Session, ctx: &mut Ctx, response: PluginResponse) -> Result<()> {
    if final_status(session).is_some() {
        return Ok(());
    }
    let mut body = response.body.clone();
    let mut head = head(response.status, &response.headers)?;
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Response)) && ctx.lend_response(session, &mut head) {
        let decision = ctx.run_response().await;
        ctx.take_back_response(session, &mut head);
        match decision {
            Decision::Next => {}
            Decision::Respond { by, response } => {
                ctx.decided_by = Some(by);
                body = response.body;
            }
            Decision::Failed { by, failure } => {
                let failed = Failed::because(Kind::Plugin(failure), format!("plugin `{by}`"));
                let page = page(failure.status(), ctx.request_id());
                ctx.decided_by = Some(by);
                ctx.failed = Some(failed);
                make_page(&mut head, &page)?;
                body = page.body;
            }
        }
    }
    if ctx.is_draining() {
        session.set_keepalive(None);
    }
    let body = whole_body::of_local(session, ctx, &mut head, body)?;
    server_timing::tell(session, ctx, &mut head);
    edit::response(&mut head, session.req_header(), ctx);
    write(session, Box::new(head), body).await
}

/// The status that the client was sent. An interim one (100 to 103) is not the answer yet (RFC 9110, section
/// 15.2); 101 is.
pub(crate) fn final_status(session: &Session) -> Option<StatusCode> {
    let status = session.response_written()?.status;
    (!status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS).then_some(status)
}

/// Statuses whose responses never have a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
pub(crate) fn is_bodiless(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Makes the framing fields of a head fit a body of that length.
pub(crate) fn frame(head: &mut ResponseHeader, length: usize) -> Result<()> {
    head.remove_header(&header::TRANSFER_ENCODING);
    match head.status {
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => {
            head.remove_header(&header::CONTENT_LENGTH);
            Ok(())
        }
        StatusCode::RESET_CONTENT => head.insert_header(header::CONTENT_LENGTH, 0),
        _ => head.insert_header(header::CONTENT_LENGTH, length),
    }
}

/// Writes head and body with true framing. Does nothing where an answer went out already.
///
/// # Errors
/// The client can't be written to.
pub(crate) async fn write(session: &mut Session, mut head: Box<ResponseHeader>, body: Bytes) -> Result<()> {
    if final_status(session).is_some() {
        return Ok(());
    }
    frame(&mut head, body.len())?;
    if session.is_process_shutting_down() {
        session.set_keepalive(None);
    }
    let no_body = is_bodiless(head.status) || body.is_empty() || session.req_header().method == Method::HEAD;
    session.write_response_header(head, no_body).await?;
    if !no_body {
        session.write_response_body(Some(body), true).await?;
    } else if session.req_header().version == Version::HTTP_2 {
        // On HTTP/2, Pingora leaves the stream open behind a head, and a stream that is dropped is reset.
        session.write_response_body(Some(Bytes::new()), true).await?;
    }
    Ok(())
}
