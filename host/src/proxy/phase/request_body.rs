//! `request_body_filter`: what of the client's body goes to the upstream.

use bytes::Bytes;

/// HTTP/2 clients often end a body with an empty frame. Pingora would write it to an HTTP/1.1 upstream as a
/// chunk of length 0, which is the end, and then the end once more: the second one would be read as the start
/// of the next request on that connection (RFC 9112, section 7.1).
pub(crate) fn run(body: &mut Option<Bytes>, end_of_stream: bool) {
    if end_of_stream && body.as_ref().is_some_and(Bytes::is_empty) {
        *body = None;
    }
}
