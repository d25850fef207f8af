//! Which worker thread is running, and which connections to a peer are its own. Knows nothing of what is sent on them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use pingora::upstreams::peer::HttpPeer;

use crate::upstream::Peer;

thread_local! {
    /// The same for as long as the thread lives, and no other thread's.
    static NUMBER: u64 = {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Relaxed)
    };
}

/// What Pingora connects to, for one request of this worker.
pub(super) fn http_peer(peer: &Peer) -> Box<HttpPeer> {
    let mut http_peer = peer.http_peer();
    if peer.keeps_apart() {
        // Pingora keeps connections by this key, which no two workers have in common then.
        http_peer.group_key ^= NUMBER.with(|number| *number);
    }
    http_peer
}
