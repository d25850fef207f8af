//! gRPC-Web, as browsers speak it, to upstreams that speak gRPC: content types, and trailers at the end of the body.
//! The messages are the same on both sides. Knows the binary form alone: that of base64 goes on as it is.

use bytes::Bytes;
use http::{HeaderMap, Version, header};
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::bridge::grpc_web::GrpcWebCtx;

use super::ctx::Ctx;

const WEB: &[u8] = b"application/grpc-web";
const TEXT: &[u8] = b"application/grpc-web-text";

/// Makes an attempt's request one of gRPC, where the route is told to and the client speaks gRPC-Web. Only a peer of
/// HTTP/2 understands it.
pub(crate) fn ask(head: &mut RequestHeader, ctx: &mut Ctx) {
    if !ctx.entry().is_some_and(|entry| entry.grpc_web) {
        return;
    }
    ctx.grpc_web = GrpcWebCtx::Disabled;
    let kind = head.headers.get(header::CONTENT_TYPE);
    if head.version == Version::HTTP_2
        && kind.is_some_and(|kind| begins(kind.as_bytes(), WEB) && !begins(kind.as_bytes(), TEXT))
    {
        ctx.grpc_web.init();
        ctx.grpc_web.request_header_filter(head);
    }
}

/// Makes the head of a response to it one of gRPC-Web.
pub(crate) fn answer(head: &mut ResponseHeader, ctx: &mut Ctx) {
    if ctx.grpc_web != GrpcWebCtx::Upgrade {
        return;
    }
    // An upstream that speaks gRPC-Web by itself is left to it.
    if head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| begins(kind.as_bytes(), WEB)) {
        ctx.grpc_web = GrpcWebCtx::Disabled;
        return;
    }
    ctx.grpc_web.response_header_filter(head);
}

/// The trailers as the last frame of the body; `None` where they stay trailers.
///
/// # Errors
/// They are too long for a frame.
pub(crate) fn end(trailers: &mut HeaderMap, ctx: &mut Ctx) -> Result<Option<Bytes>> {
    if ctx.grpc_web == GrpcWebCtx::Trailers {
        ctx.grpc_web.response_trailer_filter(trailers)
    } else {
        Ok(None)
    }
}

fn begins(value: &[u8], with: &[u8]) -> bool {
    value.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}
