//! `upstream_peer`: picks a peer that is resolved already. No look-up and no lock; waits only for a
//! place, where the upstream has limits.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use pingora::Result;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;

use crate::config::model::RouteTimeouts;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::{hash_key, worker};
use crate::upstream::{Ask, Hold, Peer};

pub(crate) async fn run(session: &mut Session, ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
    let left = time_left(ctx);
    let picked = if left.is_zero() { Err(too_late()) } else { pick(session, ctx).await };
    match picked {
        Ok(hold) => {
            ctx.failed = None;
            ctx.attempts += 1;
            let mut http_peer = worker::http_peer(hold.peer());
            ctx.hold = Some(hold);
            if let Some(own) = ctx.entry().and_then(|entry| entry.timeouts) {
                replace(&mut http_peer, &own);
            }
            bound(&mut http_peer, left);
            Ok(http_peer)
        }
        Err(failed) => {
            // A peer that was tried failed for a reason that says more than that none is left.
            let failed = ctx.failed.take().unwrap_or(failed);
            let error = raise(&failed);
            ctx.failed = Some(failed);
            Err(error)
        }
    }
}

/// What is left of the request's time.
fn time_left(ctx: &mut Ctx) -> Duration {
    let own = ctx.entry().and_then(|entry| entry.timeouts?.total);
    let total = own.or_else(|| ctx.upstream().map(|upstream| upstream.timeouts().total));
    let Some(total) = total else { return Duration::MAX };
    let deadline = ctx.arrived.checked_add(total);
    ctx.deadline = deadline;
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

fn too_late() -> Failed {
    Failed::because(Kind::UpstreamTimeout, "the total time-out is over")
}

/// The route's time limits go before the upstream's.
fn replace(peer: &mut HttpPeer, own: &RouteTimeouts) {
    let options = &mut peer.options;
    options.connection_timeout = own.connect.or(options.connection_timeout);
    options.total_connection_timeout = own.connect.or(options.total_connection_timeout);
    options.read_timeout = own.read.or(options.read_timeout);
    if let Some(write) = own.write {
        Peer::write_within(peer, write);
    }
}

/// No step takes longer than the request may yet.
fn bound(peer: &mut HttpPeer, left: Duration) {
    let options = &mut peer.options;
    for time in [
        &mut options.connection_timeout,
        &mut options.total_connection_timeout,
        &mut options.read_timeout,
        &mut options.write_timeout,
    ] {
        *time = time.map(|time| time.min(left));
    }
}

async fn pick(session: &mut Session, ctx: &Ctx) -> Result<Hold, Failed> {
    let Some(upstream) = ctx.upstream() else {
        return Err(Failed::because(Kind::Internal, "the route has no upstream"));
    };
    let key = upstream.hash_key().and_then(|wanted| hash_key::of(wanted, session, ctx).map(Cow::into_owned));
    let ask = Ask { key: key.as_deref(), tried: &ctx.tried };
    upstream.acquire(&ask).await.map_err(|reason| Failed::no_peer(upstream.name(), &reason))
}
