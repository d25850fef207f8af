//! `upstream_response_filter`: what an upstream says of its own connection stops here, and so does what is no
//! HTTP.

use pingora::http::ResponseHeader;
use pingora::{Error, ErrorType, Result};

use crate::proxy::hop_by_hop;

/// # Errors
/// The status is not one (RFC 9110, section 15): 502.
pub(crate) fn run(head: &mut ResponseHeader) -> Result<()> {
    if head.status.as_u16() > 599 {
        let status = head.status;
        return Err(Error::explain(ErrorType::InvalidHTTPHeader, format!("status {status}")).into_up());
    }
    hop_by_hop::strip_response(head);
    Ok(())
}
