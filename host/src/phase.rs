//! The points of a request where plugins run. A phase's name is the name of its WIT interface, in metric
//! labels, logs and messages too. Knows nothing else.

use std::fmt;

/// One phase of DESIGN's path of a request, in the order in which a request meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// `request-filter`: the head of the request, before a peer is chosen.
    Request,
    /// `upstream-request-filter`: what one attempt sends, once its peer is connected to.
    UpstreamRequest,
    /// `response-filter`: the head of every response of the route.
    Response,
    /// `error-filter`: why the request can't be served.
    Error,
    /// `log-filter`: the finished request.
    Log,
}

impl Phase {
    /// Every phase, in the order of the path.
    pub const ALL: [Phase; 5] =
        [Phase::Request, Phase::UpstreamRequest, Phase::Response, Phase::Error, Phase::Log];

    /// The name of the WIT interface that a component exports for it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Request => "request-filter",
            Phase::UpstreamRequest => "upstream-request-filter",
            Phase::Response => "response-filter",
            Phase::Error => "error-filter",
            Phase::Log => "log-filter",
        }
    }

    /// Whether it runs in a hook of the proxy that can't wait: a plugin that has it is called on the worker's
    /// own stack, in every phase.
    pub fn is_immediate(self) -> bool {
        matches!(self, Phase::Error)
    }

    /// Its place in [`ALL`](Self::ALL).
    pub fn index(self) -> usize {
        self as usize
    }

    /// The function of that interface.
    pub fn function(self) -> &'static str {
        match self {
            Phase::Request => "on-request",
            Phase::UpstreamRequest => "on-upstream-request",
            Phase::Response => "on-response",
            Phase::Error => "on-error",
            Phase::Log => "on-log",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
