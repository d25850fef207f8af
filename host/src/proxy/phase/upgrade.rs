//! Requests that ask to switch protocols: whose time limits hold where. Between the request and the 101, the
//! upstream has the time that it has for any answer; in the tunnel behind it, both sides may be silent for longer.

use std::time::Duration;

use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;

use crate::proxy::downstream::Connection;

/// Takes the upstream's time limit to the client's stream, which sees both sides of the tunnel.
pub(crate) fn expect(session: &Session, peer: &mut HttpPeer) {
    if !session.is_upgrade_req() {
        return;
    }
    if let Some(connection) = Connection::of(session) {
        connection.expect_switch(peer.options.read_timeout.take().unwrap_or(Duration::MAX));
    }
}
