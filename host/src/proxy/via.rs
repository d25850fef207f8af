//! `via` of requests and responses that pass (RFC 9110, section 7.6.3): by which version of HTTP they came, and that they
//! came through this proxy. Knows no configuration.

use http::request::Parts;
use http::{HeaderValue, Version, header};
use pingora::http::ResponseHeader;

/// Adds the proxy behind those that the request came through.
pub(crate) fn request(head: &mut Parts) {
    head.headers.append(header::VIA, hop(head.version));
}

/// The same of a response, which came by `version`.
pub(crate) fn response(head: &mut ResponseHeader, version: Version) {
    let _ = head.append_header(header::VIA.as_str(), hop(version));
}

fn hop(version: Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        Version::HTTP_2 => "2 edgewright",
        Version::HTTP_10 | Version::HTTP_09 => "1.0 edgewright",
        _ => "1.1 edgewright",
    })
}
