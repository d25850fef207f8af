//! A request that goes through a chain without any socket: what the proxy would send on, and what the client would
//! get. For `plugin test` and `plugin bench`. Runs the phases in their order by the code that serves requests;
//! the upstream is played.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::phase::Phase;
use crate::plugin::Chain;
use crate::plugin::exchange::{
    Attempt, Attributes, CallRecord, Decision, Entry, Exchange, Failure, HeadSizes, HttpCalls, Lent,
    PassedOver, PluginResponse, UpstreamNames,
};
use crate::snapshot::Policy;

use super::heads::SessionHeads;
use super::local_response;
use super::rehearsal::{Refused, Rehearsal};

/// A request as a client on the loopback interface sends it.
#[derive(Debug, Clone)]
pub struct Question {
    pub method: Method,
    /// As in the request line.
    pub target: String,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// A response: the one that the upstream is to give, or that the client got.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub struct Course {
    /// Of the phases before the upstream is asked.
    pub verdict: Verdict,
    /// What the upstream would be sent, whether it was asked or not.
    pub method: Method,
    /// Path and query.
    pub target: String,
    pub headers: HeaderMap,
    /// The upstream that a plugin chose, as its place among the names.
    pub upstream: Option<usize>,
    /// What the client gets.
    pub reply: Reply,
    pub attributes: Attributes,
    pub calls: Vec<CallRecord>,
}

/// What the request phase decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Next,
    Respond,
    Failed(Failure),
}

/// Plays a request.
///
/// # Errors
/// The proxy would refuse it before any plugin.
pub async fn play(
    chain: &Chain,
    policy: &Policy,
    upstreams: &Arc<dyn UpstreamNames>,
    question: &Question,
    origin: &Reply,
) -> Result<Course, Refused> {
    let lost = || Refused { status: 500, cause: Some("the request was lost on its way".to_owned()) };
    let target = question.target.as_bytes();
    let rehearsal = Rehearsal::play(policy, &question.method, target, &question.headers)?;
    let (mut head, mut facts) = rehearsal.into_parts();
    facts.route = "test".into();
    if facts.raw_target.is_empty() {
        facts.raw_target = Bytes::copy_from_slice(target);
    }
    let mut heads = SessionHeads::empty();
    heads.lend_request(&mut head);
    let request_id = Arc::clone(&facts.request_id);
    let mut lent = Lent::new(Exchange {
        heads: Box::new(heads),
        sizes: HeadSizes::default(),
        facts,
        phase: Phase::Request,
        attributes: Attributes::default(),
        upstream: None,
        hash_key: None,
        upstreams: Arc::clone(upstreams),
        calls: Vec::with_capacity(4),
        body: None,
        piece: None,
        passed_over: PassedOver::default(),
        http_calls: HttpCalls::default(),
        attempt: None,
        trouble: None,
        entry: None,
    });

    let page = |failure: Failure| local_response::page(failure.status(), &request_id);
    let judged = |decision| match decision {
        Decision::Next => (Verdict::Next, None),
        Decision::Respond { response, .. } => (Verdict::Respond, Some(response)),
        Decision::Failed { failure, .. } => (Verdict::Failed(failure), Some(page(failure))),
    };
    let (mut verdict, mut answer) = judged(chain.on_request(&mut lent).await);
    if verdict == Verdict::Next && chain.has(Phase::UpstreamRequest) {
        lent.exchange_mut().ok_or_else(lost)?.attempt = Some(attempt());
        (verdict, answer) = judged(chain.on_upstream_request(&mut lent).await);
        lent.exchange_mut().ok_or_else(lost)?.attempt = None;
    }
    let exchange = lent.exchange_mut().ok_or_else(lost)?;
    let sent = exchange.heads.request();
    let method = sent.method.clone();
    let target = sent.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let headers = sent.headers.clone();

    let (status, lines, mut body) = match answer {
        Some(PluginResponse { status, headers, body }) => (status, headers, body),
        None => (origin.status, lines(&origin.headers), origin.body.clone()),
    };
    exchange.heads.replace_response(status, lines);
    match chain.on_response(&mut lent).await {
        Decision::Next => {}
        Decision::Respond { response, .. } => body = response.body,
        Decision::Failed { failure, .. } => body = page(failure).body,
    }
    let exchange = lent.exchange_mut().ok_or_else(lost)?;
    let response = exchange.heads.response().ok_or_else(lost)?;
    let reply = Reply { status: response.status, headers: response.headers.clone(), body };

    if chain.has(Phase::Log) {
        exchange.entry = Some(entry(&reply));
        chain.on_log(&mut lent).await;
    }
    let exchange = lent.into_exchange().ok_or_else(lost)?;
    let upstream = exchange.upstream.map(crate::ids::UpstreamId::index);
    let Exchange { attributes, calls, .. } = *exchange;
    Ok(Course { verdict, method, target, headers, upstream, reply, attributes, calls })
}

/// There is no peer: an address that nothing listens on.
fn attempt() -> Attempt {
    Attempt { number: 1, upstream: "test".into(), peer: "127.0.0.1:1".to_owned() }
}

fn lines(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn entry(reply: &Reply) -> Entry {
    Entry {
        status: reply.status.as_u16(),
        duration: Duration::from_millis(1),
        response_bytes: reply.body.len() as u64,
        ..Entry::default()
    }
}
