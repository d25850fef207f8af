//! `upstream_response_filter`: what an upstream says of its own connection stops here, and so does what is no
//! HTTP.

use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode, Version, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::retry::{self, Reason};
use crate::proxy::survey::Survey;
use crate::proxy::{content_length, hop_by_hop, via};

/// Interim responses (100 to 103) of one request at most.
const MAX_INTERIM: usize = 10;

/// Lines of a response's head, and bytes of all names and values: as much as the plugins' contract has for one.
const MAX_LINES: usize = 128;
const MAX_BYTES: usize = 64 * 1024;

/// # Errors
/// The response is none (502): its status is out of range (RFC 9110, section 15), it switches protocols
/// without being asked to (section 7.8), its head is too long, or it has no end of interim responses.
pub(crate) fn run(session: &Session, head: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
    let (status, version) = (head.status, head.version);
    if status.as_u16() > 599 {
        return refuse(&format!("status {status}"));
    }
    if status == StatusCode::SWITCHING_PROTOCOLS && !session.is_upgrade_req() {
        return refuse("a switch of protocols that nobody asked for");
    }
    let found = Survey::of_response(&head.headers);
    if found.coding && !is_framed(head) {
        return refuse("a `transfer-encoding` that is not just `chunked`, or one of HTTP/1.0");
    }
    // An intermediary speaks its own version (RFC 9110, section 2.5).
    if head.version == Version::HTTP_10 || head.version == Version::HTTP_09 {
        head.set_version(Version::HTTP_11);
    }
    if found.lines > MAX_LINES || found.bytes > MAX_BYTES {
        return refuse("more header lines or bytes than a response may have");
    }
    if status.is_informational() {
        ctx.interim += 1;
        if ctx.interim > MAX_INTERIM {
            return refuse("too many interim responses");
        }
    }
    if !status.is_informational() {
        if let (Some(hold), Some(upstream)) = (&ctx.hold, ctx.upstream()) {
            hold.answered(upstream, status.as_u16());
        }
        if status.is_server_error() {
            ctx.sent += 1;
            if retry::repeat(session, ctx, Reason::Status(status.as_u16())) {
                return Err(retry::error());
            }
        }
    } else if status == StatusCode::SWITCHING_PROTOCOLS {
        ctx.deadline = None;
    }
    hop_by_hop::strip_response(head, found);
    if ctx.generation.policy.via && !status.is_informational() {
        via::response(head, version);
    }
    if status.is_informational() || status == StatusCode::NO_CONTENT {
        // These have no body, whatever they say (RFC 9110, section 8.6; RFC 9112, section 6.1).
        head.remove_header(&header::CONTENT_LENGTH);
        head.remove_header(&header::TRANSFER_ENCODING);
    } else if status == StatusCode::NOT_MODIFIED {
        head.remove_header(&header::TRANSFER_ENCODING);
    }
    if found.framing {
        one_length(head);
    }
    Ok(())
}

/// A body that takes too long as a whole. One that stalls is found by the time-out of its reads.
///
/// # Errors
/// The request's time is over.
pub(crate) fn in_time(ctx: &mut Ctx) -> Result<Option<Duration>> {
    match ctx.deadline {
        Some(deadline) if Instant::now() >= deadline => {
            ctx.failed = Some(Failed::because(Kind::UpstreamTimeout, "the total time-out is over"));
            Err(Error::explain(ErrorType::ReadTimedout, "total time-out").into_up())
        }
        _ => Ok(None),
    }
}

/// Whether a body that is not counted is in chunks and nothing else. Pingora takes any coding for an end by the
/// connection's, and would tell the client so with the connection kept (RFC 9112, sections 6.1 and 6.3).
fn is_framed(head: &ResponseHeader) -> bool {
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (Some(coding), None) => {
            head.version != Version::HTTP_10 && coding.as_bytes().eq_ignore_ascii_case(b"chunked")
        }
        (one, _) => one.is_none(),
    }
}

/// Pingora takes several lengths that are the same; the client is told one.
fn one_length(head: &mut ResponseHeader) {
    let mut lines = head.headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(first) = lines.next() else { return };
    let text = first.as_bytes();
    if content_length::is_plain(text) && lines.next().is_none() {
        return;
    }
    let number = text.split(|byte| *byte == b',').next().and_then(|digits| std::str::from_utf8(digits).ok());
    if let Some(length) = number.and_then(|digits| digits.trim().parse::<u64>().ok()) {
        let _ = head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
}

fn refuse(what: &str) -> Result<()> {
    Err(Error::explain(ErrorType::InvalidHTTPHeader, what.to_owned()).into_up())
}
