//! The response header `Server-Timing` (W3C), where the configuration wants it: what each call of a plugin took,
//! and all of it until the head was sent. Must not know phases.

use std::fmt::Write as _;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;

use crate::config::model::ServerTiming;
use crate::plugin::exchange::CallRecord;

use super::ctx::Ctx;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Adds a line, where it is wanted; those of the upstream stay.
pub(crate) fn tell(session: &Session, ctx: &Ctx, head: &mut ResponseHeader) {
    let wanted = match &ctx.generation.policy.server_timing {
        ServerTiming::Off => return,
        ServerTiming::On => true,
        ServerTiming::Asked(name) => session.req_header().headers.contains_key(name),
    };
    if !wanted {
        return;
    }
    let calls = ctx.exchange().map(|exchange| &*exchange.calls).unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(&line(calls, ctx.arrived.elapsed())) {
        // A head that is full goes without.
        let _ = head.append_header(SERVER_TIMING, value);
    }
}

/// Durations are milliseconds. The names of plugins and phases are tokens.
fn line(calls: &[CallRecord], total: Duration) -> String {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let mut line = String::with_capacity(64);
    for call in calls {
        // Writing to a string does not fail.
        let _ = write!(line, "{};desc={};dur={:.4}, ", call.plugin, call.phase, millis(call.took));
    }
    let _ = write!(line, "total;dur={:.3}", millis(total));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::Phase;

    #[test]
    fn each_call_has_its_place() {
        let call = |plugin: &str, phase, micros| CallRecord {
            plugin: plugin.into(),
            phase,
            took: Duration::from_micros(micros),
        };
        let calls = [call("api-key", Phase::Request, 12), call("a", Phase::Response, 1_500)];
        let expected =
            "api-key;desc=request-filter;dur=0.0120, a;desc=response-filter;dur=1.5000, total;dur=20.000";
        assert_eq!(line(&calls, Duration::from_millis(20)), expected);
        assert_eq!(line(&[], Duration::from_millis(1)), "total;dur=1.000");
    }
}
