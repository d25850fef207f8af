//! `via` of requests and responses that pass (RFC 9110, section 7.6.3): by which version of HTTP they came, and that they
//! came through this proxy. Knows no configuration.

use http::{HeaderValue, Version};
use pingora::http::{RequestHeader, ResponseHeader};

// Written with the name as text: Pingora copies a `HeaderName` to keep the case of its letters.
const NAME: &str = "via";

/// Adds the proxy behind those that the request came through.
pub(crate) fn request(head: &mut RequestHeader) {
    let hop = hop(head.version);
    let _ = head.append_header(NAME, hop);
}

/// The same of a response, which came by `version`.
pub(crate) fn response(head: &mut ResponseHeader, version: Version) {
    let _ = head.append_header(NAME, hop(version));
}

fn hop(version: Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        Version::HTTP_2 => "2 edgewright",
        Version::HTTP_10 | Version::HTTP_09 => "1.0 edgewright",
        _ => "1.1 edgewright",
    })
}
