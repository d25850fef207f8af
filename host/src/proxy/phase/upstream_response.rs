//! `upstream_response_filter`: what an upstream says of its own connection stops here.

use pingora::http::ResponseHeader;

use crate::proxy::hop_by_hop;

pub(crate) fn run(head: &mut ResponseHeader) {
    hop_by_hop::strip_response(head);
}
