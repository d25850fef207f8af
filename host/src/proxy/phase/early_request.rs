//! `early_request_filter`: what the proxy does with a request before any plugin sees it: lets it in or refuses
//! it, and matches its route.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use pingora::Result;
use pingora::proxy::Session;

use crate::proxy::admission::{self, Origin};
use crate::proxy::ctx::Ctx;
use crate::proxy::downstream::Connection;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::route;

pub(crate) fn run(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    prepare(session, ctx).map_err(|failed| {
        let error = raise(&failed);
        ctx.failed = Some(failed);
        error
    })
}

fn prepare(session: &mut Session, ctx: &mut Ctx) -> Result<(), Failed> {
    ctx.connection = Connection::of(session);
    let connection = ctx.connection.as_ref();
    // Every public connection is known.
    let unknown = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
    let peer = connection.map_or(unknown, |connection| connection.peer);
    let from = Origin { peer, connection: connection.map(|connection| &**connection) };
    let generation = Arc::clone(&ctx.generation);
    let head = session.req_header_mut();
    ctx.traces.method = Some(head.method.clone());
    let facts = ctx.facts.insert(admission::facts(head, &from, &generation.policy));
    let host_length = admission::admit(head, &from, &generation.policy, facts)?;
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
            if let Some(rollout) = &entry.rollout {
                ctx.version = rollout.state.choose(facts.client, &head.headers);
            }
            // Without plugins, what the head says stays what the client sent.
            if facts.raw_target.is_empty() && !entry.chain.is_empty() {
                facts.raw_target = Bytes::copy_from_slice(head.raw_path());
            }
            if !entry.logged {
                drop(ctx.take_access_log());
            }
            Ok(())
        }
        None => Err(Failed::new(Kind::NoRoute)),
    }
}
