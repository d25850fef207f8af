//! `logging`: metrics, the log phase of the chain, the access log line. Runs once per request, whatever
//! became of it.

use std::sync::Arc;
use std::time::Duration;

use http::header;
use pingora::proxy::Session;

use crate::observe::access_log::{AccessLog, Escaped, PluginTime, Record};
use crate::phase::Phase;
use crate::plugin::exchange::Entry;
use crate::proxy::ctx::Ctx;
use crate::proxy::local_response::final_status;

pub(crate) async fn run(access_log: Option<&AccessLog>, session: &mut Session, ctx: &mut Ctx) {
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
    if let Some(access_log) = access_log {
        write(access_log, session, ctx, status, duration);
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
        peer: ctx.tried.last().map(ToString::to_string),
        decided_by: ctx.decided_by.clone(),
        error: ctx.failed.as_ref().map(|failed| failed.kind.word()),
    }
}

fn upstream(ctx: &Ctx) -> Option<Arc<str>> {
    let upstream = ctx.generation.upstreams.get(ctx.upstream?)?;
    Some(Arc::clone(upstream.name()))
}

fn write(log: &AccessLog, session: &Session, ctx: &Ctx, status: u16, duration: Duration) {
    let head = session.req_header();
    let facts = ctx.facts.as_ref();
    let upstream = upstream(ctx);
    let exchange = ctx.exchange();
    let target = match facts {
        Some(facts) if !facts.raw_target.is_empty() => &facts.raw_target,
        _ => head.raw_path(),
    };
    let host = facts.map(|facts| facts.authority.as_bytes()).filter(|host| !host.is_empty());
    // A host that was refused is worth seeing, too.
    let host = host.or_else(|| head.headers.get(header::HOST).map(|line| line.as_bytes()));
    let plugins = exchange.map(|exchange| &exchange.calls).into_iter().flatten().map(|call| PluginTime {
        name: &call.plugin,
        phase: call.phase.name(),
        us: (call.took.as_nanos() / 100) as f64 / 10.0,
    });
    let attributes = exchange.into_iter().flat_map(|exchange| exchange.attributes.iter());
    log.write(&Record {
        time: std::time::SystemTime::now().checked_sub(duration).unwrap_or(std::time::UNIX_EPOCH),
        request_id: facts.map(|facts| &*facts.request_id),
        client: facts.map(|facts| facts.client),
        method: Some(head.method.as_str()),
        host: host.map(Escaped),
        target: Some(Escaped(target)),
        protocol: facts.map(|facts| facts.protocol),
        status,
        duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        request_bytes: session.body_bytes_read() as u64,
        response_bytes: session.body_bytes_sent() as u64,
        user_agent: head.headers.get(header::USER_AGENT).map(|value| Escaped(value.as_bytes())),
        route: ctx.entry().map(|entry| &*entry.name),
        upstream: upstream.as_deref(),
        peer: ctx.tried.last().copied(),
        attempts: ctx.attempts,
        decided_by: ctx.decided_by.as_deref(),
        error: ctx.failed.as_ref().map(|failed| failed.kind.word()),
        cause: ctx
            .failed
            .as_ref()
            .and_then(|failed| failed.cause.as_ref())
            .map(|cause| Escaped(cause.as_bytes())),
        plugins: plugins.collect(),
        attributes: attributes
            .filter(|(key, _)| ctx.generation.log_attributes.iter().any(|wanted| wanted == key))
            .map(|(key, value)| (key, Escaped(value)))
            .collect(),
    });
}
