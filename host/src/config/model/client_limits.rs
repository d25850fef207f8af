//! `[server.limits]` and `[server.timeouts]`: how much of everything one client may take.

use std::time::Duration;

/// All finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Bytes of a request's head, its request line included.
    pub header_bytes: usize,
    /// Lines of a request's head, its request line not included.
    pub header_lines: usize,
    /// Bytes of a request's target.
    pub target_bytes: usize,
    /// Bytes of a request's body.
    pub body_bytes: u64,
    /// Requests of one HTTP/1 connection.
    pub requests: u32,
    /// Requests of one HTTP/2 connection at the same time.
    pub streams: u32,
    /// Connections of all clients together; `None`: as many as there are descriptors for.
    pub connections: Option<u32>,
    /// For a TLS handshake as a whole.
    pub handshake: Duration,
    /// For a head as a whole, from its first byte.
    pub header: Duration,
    /// Between two pieces of a body.
    pub body: Duration,
    /// Until the client takes something of what it is sent.
    pub write: Duration,
    /// Between two requests, and before the first.
    pub idle: Duration,
    /// How long nothing may pass in a tunnel (behind a 101).
    pub tunnel: Duration,
}

impl ClientLimits {
    pub const DEFAULT: Self = Self {
        // As nginx: more is cookies gone wrong, or an attack.
        header_bytes: 32 * 1024,
        header_lines: 100,
        // What nginx takes, and RFC 9110 asks of everyone.
        target_bytes: 8 * 1024,
        // A body passes in pieces, so that this guards what is behind: larger uploads are rare, and known.
        body_bytes: 1024 * 1024 * 1024,
        // As nginx: gives the memory of a connection back now and then.
        requests: 10_000,
        // What RFC 9113 names as the least that a client should be given.
        streams: 100,
        // What the process may have, it knows best.
        connections: None,
        // Three round trips across the world, ten times over.
        handshake: Duration::from_secs(10),
        header: Duration::from_secs(10),
        body: Duration::from_secs(30),
        write: Duration::from_secs(30),
        // Longer than most clients keep a connection, so that it is they who close it.
        idle: Duration::from_secs(60),
        // Chats are silent for long, and many don't ping.
        tunnel: Duration::from_secs(3600),
    };
}
