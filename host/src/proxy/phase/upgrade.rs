//! Requests that ask to switch protocols: whose time limits hold where, and on which connection they are sent.
//! Between the request and the 101, the upstream has the time that it has for any answer; in the tunnel behind it, both
//! sides may be silent for longer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;

use crate::proxy::ctx::Ctx;
use crate::proxy::downstream::Connection;

/// Tells the connections of such requests apart, in the half of the key that a group of peers shares with no other.
static ASKED: AtomicU64 = AtomicU64::new(1 << 32);

/// Takes the upstream's time limit to the client's stream, which sees both sides of the tunnel, and has a connection
/// of its own made where workers share those that are kept.
///
/// A kept connection is woken by the thread that made it, so that a quick 101 can be there before Pingora has
/// noted that the request has no body. It then takes that note for the end of the tunnel. What waits for a
/// connection of its own thread sees the two in order.
pub(crate) fn expect(session: &Session, ctx: &Ctx, peer: &mut HttpPeer) {
    if !session.is_upgrade_req() {
        return;
    }
    if let Some(connection) = Connection::of(session) {
        connection.expect_switch(peer.options.read_timeout.take().unwrap_or(Duration::MAX));
    }
    let is_shared = ctx.hold.as_ref().is_some_and(|hold| !hold.peer().keeps_apart());
    if is_shared && peer.options.alpn.get_max_http_version() == 1 {
        peer.group_key ^= ASKED.fetch_add(1 << 32, Ordering::Relaxed);
        // Nobody else ever asks for it.
        peer.options.idle_timeout = Some(Duration::ZERO);
    }
}
