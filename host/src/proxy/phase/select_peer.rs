//! `upstream_peer`: picks a peer that is resolved already. No look-up, no lock, no waiting.

use pingora::Result;
use pingora::upstreams::peer::HttpPeer;

use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};

pub(crate) fn run(ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
    let picked = match ctx.upstream.and_then(|id| ctx.generation.upstreams.get(id)) {
        Some(upstream) => upstream.pick(&ctx.tried).map_err(|reason| {
            // A peer that was tried failed for a reason that says more than that none is left.
            ctx.failed.take().unwrap_or_else(|| Failed::no_peer(upstream.name(), &reason))
        }),
        None => Err(Failed::because(Kind::Internal, "the route has no upstream")),
    };
    match picked {
        Ok(peer) => {
            ctx.failed = None;
            ctx.tried.push(peer.address);
            ctx.attempts += 1;
            let http_peer = peer.http_peer();
            ctx.peer = Some(peer);
            Ok(http_peer)
        }
        Err(failed) => {
            let error = raise(&failed);
            ctx.failed = Some(failed);
            Err(error)
        }
    }
}
