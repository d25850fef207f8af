//! `early_request_filter`: what the proxy does with a request before any plugin sees it: lets it in or refuses
//! it, and matches its route.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use pingora::Result;
use pingora::protocols::http::ServerSession;
use pingora::protocols::l4::socket;
use pingora::proxy::Session;

use crate::proxy::admission;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::route;

pub(crate) fn run(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    session.set_pipelining_enabled(true);
    prepare(session, ctx).map_err(|failed| {
        let error = raise(&failed);
        ctx.failed = Some(failed);
        error
    })
}

fn prepare(session: &mut Session, ctx: &mut Ctx) -> Result<(), Failed> {
    let peer = peer(session);
    let generation = Arc::clone(&ctx.generation);
    let head = session.req_header_mut();
    let facts = ctx.facts.insert(admission::facts(head, peer, &generation.policy));
    let host_length = admission::admit(head, peer, &generation.policy, facts)?;
    let request = route::Request {
        host: facts.authority.get(..host_length).unwrap_or_default(),
        path: head.uri.path(),
        query: head.uri.query(),
        method: &head.method,
        headers: &head.headers,
    };
    ctx.route = generation.table.find(&request);
    match ctx.route.and_then(|route| generation.routes.get(route.index())) {
        Some(entry) => {
            facts.route = Arc::clone(&entry.name);
            // Without plugins, what the head says stays what the client sent.
            if facts.raw_target.is_empty() && !entry.chain.is_empty() {
                facts.raw_target = Bytes::copy_from_slice(head.raw_path());
            }
            Ok(())
        }
        None => Err(Failed::new(Kind::NoRoute)),
    }
}

/// The address of the connection. Pingora always knows it for TCP.
fn peer(session: &ServerSession) -> SocketAddr {
    match session.client_addr() {
        Some(socket::SocketAddr::Inet(address)) => *address,
        _ => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
    }
}
