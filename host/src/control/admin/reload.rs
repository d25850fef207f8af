//! `POST /reload`: has the configuration read again, and answers when that is done. Knows nothing of how it is
//! done.

use std::net::IpAddr;

use http::{HeaderValue, Method, Response, StatusCode, header};
use pingora::protocols::http::ServerSession;
use pingora::protocols::l4::socket::SocketAddr;

use crate::control::reload::{Outcome, Reloads, Trigger};

use super::{json, text};

pub(super) async fn answer(reloads: &Reloads, session: &mut ServerSession) -> Response<Vec<u8>> {
    // Whatever body there is: nobody reads it.
    session.set_keepalive(None);
    let head = session.req_header();
    if head.method != Method::POST {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "only POST here\n");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    // Browsers say where a POST comes from: no page that somebody visits on this machine is to ask for it.
    if head.headers.contains_key(header::ORIGIN) || !is_local(session.client_addr()) {
        return text(StatusCode::FORBIDDEN, "only from this machine, and not from a browser\n");
    }
    match reloads.ask(Trigger::Admin).await {
        Some(report) => json(status(report.outcome), &*report),
        None => text(StatusCode::SERVICE_UNAVAILABLE, "the proxy is ending\n"),
    }
}

fn status(outcome: Outcome) -> StatusCode {
    match outcome {
        Outcome::Applied => StatusCode::OK,
        Outcome::Refused => StatusCode::UNPROCESSABLE_ENTITY,
        Outcome::NeedsRestart => StatusCode::CONFLICT,
        Outcome::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        Outcome::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn is_local(client: Option<&SocketAddr>) -> bool {
    match client {
        Some(SocketAddr::Inet(address)) => match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(ip.is_loopback(), |ip| ip.is_loopback()),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_machine_in_all_its_forms() {
        let check = |address: &str, expected: bool| {
            let address = SocketAddr::Inet(address.parse().unwrap());
            assert_eq!(is_local(Some(&address)), expected, "{address}");
        };
        check("127.0.0.1:1", true);
        check("127.9.9.9:1", true);
        check("[::1]:1", true);
        check("[::ffff:127.0.0.1]:1", true);
        check("10.0.0.1:1", false);
        check("[::ffff:10.0.0.1]:1", false);
        check("[2001:db8::1]:1", false);
        assert!(!is_local(None));
    }
}
