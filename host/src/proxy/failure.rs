//! Why the proxy, not the upstream, made a response: one table from what went wrong to status and log
//! word. Nothing internal goes into a body: causes go to the log.

use http::StatusCode;
use pingora::{Error, ErrorSource, ErrorType};
use rustix::io::Errno;
use tokio::runtime::is_rt_shutdown_err;

use crate::plugin::exchange;
use crate::upstream::NoPeer;

use super::downstream::{BadChunk, Stalled};

/// One failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: Kind,
    /// For the log alone: names, addresses, texts.
    pub(crate) cause: Option<String>,
}

/// What went wrong, and with it whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    // The client's.
    BadRequest,
    MethodNotAllowed,
    ExpectationFailed,
    HeadersTooLarge,
    TargetTooLong,
    BodyTooLarge,
    /// The client took too long to send it.
    RequestTimeout,
    /// A transfer coding that is not known.
    NotImplemented,
    VersionNotSupported,
    /// It belongs on a connection to another virtual host.
    Misdirected,
    NoRoute,
    /// It has come through the proxy before.
    Loop,
    /// It went away: there is nobody to answer.
    ClientGone,
    /// Nothing passed through its tunnel for too long.
    TunnelIdle,
    /// The proxy ended before the request did.
    Cut,
    // The upstream's.
    NoPeer,
    ConnectFailed,
    ConnectTimeout,
    UpstreamTimeout,
    UpstreamBroken,
    /// A plugin takes no such response.
    ResponseUnfit,
    // A plugin's.
    Plugin(exchange::Failure),
    // The proxy's own.
    /// The upstream's limits leave no room.
    Overloaded,
    /// It is out of descriptors or ports.
    Exhausted,
    Internal,
}

impl Kind {
    /// What the client is sent; `None` where it can't be sent anything.
    pub(crate) fn status(self) -> Option<StatusCode> {
        Some(match self {
            Kind::BadRequest => StatusCode::BAD_REQUEST,
            Kind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Kind::ExpectationFailed => StatusCode::EXPECTATION_FAILED,
            Kind::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Kind::TargetTooLong => StatusCode::URI_TOO_LONG,
            Kind::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Kind::NotImplemented => StatusCode::NOT_IMPLEMENTED,
            Kind::VersionNotSupported => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Kind::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Kind::NoRoute => StatusCode::NOT_FOUND,
            Kind::Loop => StatusCode::LOOP_DETECTED,
            Kind::ClientGone | Kind::TunnelIdle | Kind::Cut => return None,
            Kind::NoPeer | Kind::Overloaded | Kind::Exhausted => StatusCode::SERVICE_UNAVAILABLE,
            Kind::ConnectFailed | Kind::UpstreamBroken | Kind::ResponseUnfit => StatusCode::BAD_GATEWAY,
            Kind::ConnectTimeout | Kind::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
            Kind::Plugin(failure) => failure.status(),
            Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        })
    }

    /// The word of the access log's `error`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::BadRequest => "bad-request",
            Kind::MethodNotAllowed => "method-not-allowed",
            Kind::ExpectationFailed => "expectation-failed",
            Kind::HeadersTooLarge => "headers-too-large",
            Kind::TargetTooLong => "target-too-long",
            Kind::BodyTooLarge => "body-too-large",
            Kind::RequestTimeout => "request-timeout",
            Kind::NotImplemented => "not-implemented",
            Kind::VersionNotSupported => "version-not-supported",
            Kind::Misdirected => "misdirected",
            Kind::NoRoute => "no-route",
            Kind::Loop => "loop",
            Kind::ClientGone => "client-gone",
            Kind::TunnelIdle => "tunnel-idle",
            Kind::Cut => "cut",
            Kind::NoPeer => "no-peer",
            Kind::ConnectFailed => "connect-failed",
            Kind::ConnectTimeout => "connect-timeout",
            Kind::UpstreamTimeout => "upstream-timeout",
            Kind::UpstreamBroken => "upstream-broken",
            Kind::ResponseUnfit => "response-unfit",
            Kind::Plugin(failure) => failure.name(),
            Kind::Overloaded => "overloaded",
            Kind::Exhausted => "exhausted",
            Kind::Internal => "internal",
        }
    }

    /// Whether the peer is to blame, so that it may be left out for it.
    pub(crate) fn is_upstreams(self) -> bool {
        matches!(
            self,
            Kind::ConnectFailed | Kind::ConnectTimeout | Kind::UpstreamTimeout | Kind::UpstreamBroken
        )
    }

    /// Whether the same request may well be fine a moment later: worth a `retry-after`.
    pub(crate) fn is_passing(self) -> bool {
        matches!(self, Kind::Overloaded | Kind::Exhausted)
    }

    /// Whether the client's connection must end with the response: what else it sent can't be trusted, or
    /// part of a body may still be on the way.
    pub(crate) fn closes(self) -> bool {
        !matches!(self, Kind::Misdirected | Kind::NoRoute | Kind::Plugin(_))
    }
}

impl Failed {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, cause: None }
    }

    pub(crate) fn because(kind: Kind, cause: impl ToString) -> Self {
        Self { kind, cause: Some(cause.to_string()) }
    }

    /// What Pingora's error means.
    pub(crate) fn of(error: &Error) -> Self {
        if let Some(kind) = in_stream(error) {
            return Self::because(kind, error);
        }
        let kind = match (error.esource(), error.etype()) {
            // Whoever seems to have gone: it is the worker that goes.
            _ if error.root_cause().downcast_ref().is_some_and(is_rt_shutdown_err) => Kind::Cut,
            // Pingora calls these errors of its own, or failed connections.
            _ if is_exhausted(error) => Kind::Exhausted,
            (_, ErrorType::ConnectTimedout | ErrorType::TLSHandshakeTimedout) => Kind::ConnectTimeout,
            (ErrorSource::Downstream, ErrorType::ReadTimedout) => Kind::RequestTimeout,
            (
                ErrorSource::Downstream,
                ErrorType::ReadError
                | ErrorType::WriteError
                | ErrorType::WriteTimedout
                | ErrorType::ConnectionClosed
                | ErrorType::H2Error,
            ) => Kind::ClientGone,
            // A body that is framed wrongly, for one.
            (ErrorSource::Downstream, _) => Kind::BadRequest,
            (_, ErrorType::BindError | ErrorType::SocketError) => Kind::Exhausted,
            (ErrorSource::Upstream, ErrorType::ReadTimedout | ErrorType::WriteTimedout) => {
                Kind::UpstreamTimeout
            }
            (
                _,
                ErrorType::ConnectRefused
                | ErrorType::ConnectNoRoute
                | ErrorType::ConnectError
                | ErrorType::TLSHandshakeFailure
                | ErrorType::InvalidCert
                | ErrorType::ConnectProxyFailure,
            ) => Kind::ConnectFailed,
            (ErrorSource::Upstream, _) => Kind::UpstreamBroken,
            _ => Kind::Internal,
        };
        Self::because(kind, error)
    }

    /// Why no peer could be picked.
    pub(crate) fn no_peer(upstream: &str, reason: &NoPeer) -> Self {
        let kind = if *reason == NoPeer::Full { Kind::Overloaded } else { Kind::NoPeer };
        Self::because(kind, format!("upstream `{upstream}`: {reason}"))
    }
}

/// What the client's stream itself found.
fn in_stream(error: &Error) -> Option<Kind> {
    let cause = error.root_cause().downcast_ref::<std::io::Error>()?.get_ref()?;
    if cause.is::<BadChunk>() {
        return Some(Kind::BadRequest);
    }
    Some(match cause.downcast_ref::<Stalled>()? {
        Stalled::Client => Kind::ClientGone,
        Stalled::Tunnel => Kind::TunnelIdle,
        Stalled::Switch => Kind::UpstreamTimeout,
    })
}

/// Whether the process is out of descriptors, or the machine of buffers: no peer is to blame, and none is any better.
pub(crate) fn is_exhausted(error: &Error) -> bool {
    let root: &(dyn std::error::Error + 'static) = error.root_cause();
    let errno = std::iter::successors(Some(root), |error| error.source())
        .find_map(|error| error.downcast_ref::<std::io::Error>().and_then(Errno::from_io_error));
    errno.is_some_and(|errno| matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOBUFS))
}

/// A Pingora error that only carries a request to `fail_to_proxy`, where the failure is read from the
/// request's context.
pub(crate) fn raise(failed: &Failed) -> Box<Error> {
    let status = failed.kind.status().map_or(0, |status| status.as_u16());
    Error::new(ErrorType::HTTPStatus(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_504_a_broken_peer_502_and_no_peer_503() {
        let check = |etype: ErrorType, source: ErrorSource, expected: Option<u16>| {
            let mut error = Error::new(etype);
            error.esource = source;
            assert_eq!(Failed::of(&error).kind.status().map(|s| s.as_u16()), expected, "{error}");
        };
        use ErrorSource::{Downstream, Internal, Unset, Upstream};
        check(ErrorType::ConnectTimedout, Upstream, Some(504));
        check(ErrorType::ReadTimedout, Upstream, Some(504));
        check(ErrorType::ConnectRefused, Upstream, Some(502));
        check(ErrorType::SocketError, Upstream, Some(503));
        // F14: no local port is left.
        check(ErrorType::BindError, Upstream, Some(503));
        check(ErrorType::ConnectionClosed, Upstream, Some(502));
        check(ErrorType::InvalidHTTPHeader, Upstream, Some(502));
        check(ErrorType::ReadTimedout, Downstream, Some(408));
        check(ErrorType::WriteTimedout, Downstream, None);
        check(ErrorType::InvalidHTTPHeader, Downstream, Some(400));
        check(ErrorType::InternalError, Internal, Some(500));
        check(ErrorType::InternalError, Unset, Some(500));
    }
}
