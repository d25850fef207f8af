//! The points of a request where plugins run. A phase's name is the name of its WIT interface, in metric
//! labels, logs and messages too. Knows nothing else.

use std::fmt;

/// One phase of DESIGN's path of a request, in the order in which a request meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// `request-filter`: the head of the request, before a peer is chosen.
    Request,
    /// `response-filter`: the head of every response of the route.
    Response,
    /// `log-filter`: the finished request.
    Log,
}

impl Phase {
    /// Every phase, in the order of the path.
    pub const ALL: [Phase; 3] = [Phase::Request, Phase::Response, Phase::Log];

    /// The name of the WIT interface that a component exports for it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Request => "request-filter",
            Phase::Response => "response-filter",
            Phase::Log => "log-filter",
        }
    }

    /// The function of that interface.
    pub fn function(self) -> &'static str {
        match self {
            Phase::Request => "on-request",
            Phase::Response => "on-response",
            Phase::Log => "on-log",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
