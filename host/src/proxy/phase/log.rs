//! `logging`: metrics, the log phase of the chain, the access log line. Runs once per request, whatever
//! became of it.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{Method, header};
use pingora::http::RequestHeader;
use pingora::proxy::Session;

use crate::observe::access_log::{AccessLog, Escaped, PluginTime, Record};
use crate::phase::Phase;
use crate::plugin::exchange::Entry;
use crate::proxy::ctx::{Ctx, Traces};
use crate::proxy::failure::{Failed, Kind};
use crate::proxy::local_response::final_status;

pub(crate) async fn run(session: &mut Session, ctx: &mut Ctx) {
    ctx.finished = true;
    ctx.restore(session);
    let status = final_status(session).map_or(0, |status| status.as_u16());
    let duration = ctx.arrived.elapsed();
    match ctx.entry() {
        Some(entry) => entry.metrics.observe(status, duration),
        None => ctx.generation.unrouted.observe(status, duration),
    }
    if ctx.chain().is_some_and(|chain| chain.has(Phase::Log)) {
        let entry = entry(session, ctx, status, duration);
        if ctx.lend_finished(session, entry) {
            ctx.run_log().await;
            ctx.take_back_request(session);
        }
    }
    if let Some(access_log) = ctx.take_access_log().filter(|log| log.wants(status)) {
        let sent = Sent {
            status,
            duration,
            request_bytes: session.body_bytes_read() as u64,
            response_bytes: session.body_bytes_sent() as u64,
        };
        write(&access_log, Some(session.req_header()), ctx, &sent);
    }
    // The response is out: the time for what later requests will need.
    if let Some(chain) = ctx.chain() {
        chain.refill().await;
    }
}

fn entry(session: &Session, ctx: &Ctx, status: u16, duration: Duration) -> Entry {
    Entry {
        status,
        duration,
        request_bytes: session.body_bytes_read() as u64,
        response_bytes: session.body_bytes_sent() as u64,
        upstream: upstream(ctx),
        peer: ctx.peer().map(|peer| peer.to_string().into()),
        decided_by: ctx.decided_by.clone(),
        error: ctx.failed.as_ref().map(|failed| failed.kind.word()),
    }
}

fn upstream(ctx: &Ctx) -> Option<Arc<str>> {
    ctx.upstream().map(|upstream| Arc::clone(upstream.name()))
}

/// The line of a request that was cut: its head is gone with its session, and what is left of it are traces.
pub(crate) fn cut(log: &AccessLog, ctx: &mut Ctx) {
    ctx.failed.get_or_insert_with(|| Failed::new(Kind::Cut));
    let duration = ctx.arrived.elapsed();
    let Traces { status, response_bytes, .. } = ctx.traces;
    write(log, None, ctx, &Sent { status, duration, request_bytes: ctx.received, response_bytes });
}

/// What went to and fro.
struct Sent {
    status: u16,
    duration: Duration,
    request_bytes: u64,
    response_bytes: u64,
}

fn write(log: &AccessLog, head: Option<&RequestHeader>, ctx: &Ctx, sent: &Sent) {
    let facts = ctx.facts.as_ref();
    let upstream = upstream(ctx);
    let exchange = ctx.exchange();
    let field = |name| head.and_then(|head| head.headers.get(name)).map(|line| Escaped(line.as_bytes()));
    let target = match facts {
        Some(facts) if !facts.raw_target.is_empty() => Some(&*facts.raw_target),
        _ => head.map(RequestHeader::raw_path),
    };
    let host = facts.map(|facts| facts.authority.as_bytes()).filter(|host| !host.is_empty()).map(Escaped);
    let plugins = exchange.map(|exchange| &exchange.calls).into_iter().flatten().map(|call| PluginTime {
        name: &call.plugin,
        phase: call.phase.name(),
        us: (call.took.as_nanos() / 100) as f64 / 10.0,
    });
    let attributes = exchange.into_iter().flat_map(|exchange| exchange.attributes.iter());
    let failed = ctx.failed.as_ref();
    log.write(&Record {
        time: SystemTime::now().checked_sub(sent.duration).unwrap_or(UNIX_EPOCH),
        request_id: facts.map(|facts| &*facts.request_id),
        client: facts.map(|facts| facts.client),
        method: head.map(|head| &head.method).or(ctx.traces.method.as_ref()).map(Method::as_str),
        // A host that was refused is worth seeing, too.
        host: host.or_else(|| field(header::HOST)),
        target: target.map(Escaped),
        protocol: facts.map(|facts| facts.protocol),
        status: sent.status,
        duration_us: u64::try_from(sent.duration.as_micros()).unwrap_or(u64::MAX),
        request_bytes: sent.request_bytes,
        response_bytes: sent.response_bytes,
        user_agent: field(header::USER_AGENT),
        referer: field(header::REFERER),
        route: ctx.entry().map(|entry| &*entry.name),
        upstream: upstream.as_deref(),
        peer: ctx.peer().map(|peer| peer as &dyn Display),
        attempts: ctx.attempts,
        decided_by: ctx.decided_by.as_deref(),
        error: failed.map(|failed| failed.kind.word()),
        cause: failed.and_then(|failed| failed.cause.as_ref()).map(|cause| Escaped(cause.as_bytes())),
        plugins: plugins.collect(),
        attributes: attributes
            .filter(|(key, _)| ctx.generation.log_attributes.iter().any(|wanted| wanted == key))
            .map(|(key, value)| (key, Escaped(value)))
            .collect(),
    });
}
