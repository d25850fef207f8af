//! `upstream_request_filter`: the last look at what an attempt sends.

use http::header;
use pingora::http::RequestHeader;

/// Pingora has made the head fit the peer's protocol by now. `expect` was answered here (Pingora sends the
/// `100 Continue` itself), so the upstream is not asked again.
pub(crate) fn run(head: &mut RequestHeader) {
    if head.headers.contains_key(header::EXPECT) {
        head.remove_header(&header::EXPECT);
    }
}
