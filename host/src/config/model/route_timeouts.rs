//! Time limits of a route, which go before those of its upstream. Knows nothing of how they are held.

use std::time::Duration;

/// `timeouts` of a route; `None`: the upstream's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RouteTimeouts {
    /// Until the connection stands.
    pub connect: Option<Duration>,
    /// Between two reads of the response, and until its first byte.
    pub read: Option<Duration>,
    /// Until a write of the request is taken.
    pub write: Option<Duration>,
    /// From the arrival of the request to the end of its response.
    pub total: Option<Duration>,
}

impl RouteTimeouts {
    /// Whether all are the upstream's.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
