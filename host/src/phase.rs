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
    /// `request-body-filter`: the body of the request, in pieces or whole.
    RequestBody,
    /// `response-filter`: the head of every response of the route.
    Response,
    /// `response-body-filter`: the body of a response, in pieces or whole.
    ResponseBody,
    /// `error-filter`: why the request can't be served.
    Error,
    /// `log-filter`: the finished request.
    Log,
}

impl Phase {
    /// Every phase, in the order of the path.
    pub const ALL: [Phase; 7] = [
        Phase::Request,
        Phase::UpstreamRequest,
        Phase::RequestBody,
        Phase::Response,
        Phase::ResponseBody,
        Phase::Error,
        Phase::Log,
    ];

    /// The name of the WIT interface that a component exports for it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Request => "request-filter",
            Phase::UpstreamRequest => "upstream-request-filter",
            Phase::RequestBody => "request-body-filter",
            Phase::Response => "response-filter",
            Phase::ResponseBody => "response-body-filter",
            Phase::Error => "error-filter",
            Phase::Log => "log-filter",
        }
    }

    /// Whether it runs in a hook of the proxy that can't wait: a plugin that has it is called on the worker's
    /// own stack, in every phase.
    pub fn is_immediate(self) -> bool {
        matches!(self, Phase::ResponseBody | Phase::Error)
    }

    /// Whether it is called with pieces of a body.
    pub fn is_of_body(self) -> bool {
        matches!(self, Phase::RequestBody | Phase::ResponseBody)
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
            Phase::RequestBody => "on-request-body",
            Phase::Response => "on-response",
            Phase::ResponseBody => "on-response-body",
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
