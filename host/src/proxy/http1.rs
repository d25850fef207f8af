//! The requests of an HTTP/1 connection, one after the other: waits for a head, looks it over, and hands it to
//! Pingora with as much of the stream as belongs to it. Knows nothing of what a request asks for.

mod head;
mod patience;
mod refuse;
mod turn_away;

#[cfg(fuzzing)]
pub(crate) mod fuzzing;

use std::pin::{Pin, pin};
use std::sync::Arc;

use arc_swap::ArcSwap;
use pingora::apps::HttpServerApp;
use pingora::protocols::http::ServerSession;
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;
use tokio::time::{Instant, timeout_at};

use crate::config::model::ClientLimits;
use crate::snapshot::Generation;

use super::EdgeProxy;
use super::connections::Fresh;
use super::downstream::Downstream;
use super::failure::{Failed, Kind};

use head::Scanner;
pub(crate) use head::{Body, Head};
use patience::Patience;

/// What all connections share.
pub(super) struct Http1 {
    pub(super) proxy: Arc<HttpProxy<EdgeProxy>>,
    pub(super) generation: Arc<ArcSwap<Generation>>,
}

/// What came of waiting for a head.
enum Arrival {
    Head(Head),
    /// Nothing more is to be served here.
    Over,
    Refused(Failed),
}

impl Http1 {
    /// Serves a connection to its end.
    pub(super) async fn serve(&self, mut stream: Box<Downstream>, fresh: Fresh, shutdown: &ShutdownWatch) {
        let mut fresh = Some(fresh);
        let mut served: u32 = 0;
        let patience = Patience::new();
        let mut over = pin!(patience.end(shutdown.clone()));
        loop {
            let limits = self.generation.load().policy.limits;
            stream.limit(&limits);
            if patience.begin(limits.idle) {
                over.set(patience.end(shutdown.clone()));
            }
            let head = match await_head(&mut stream, &limits, over.as_mut()).await {
                Arrival::Head(head) => head,
                Arrival::Over => return,
                Arrival::Refused(failed) => {
                    refuse::answer(self, stream, failed).await;
                    return;
                }
            };
            let bytes = stream.admit(&head);
            let mut session = ServerSession::new_http1(stream);
            session.set_read_timeout(if head.may_switch() { None } else { Some(limits.body) });
            session.set_write_timeout(Some(limits.write));
            session.set_keepalive_reuses_remaining(Some(limits.requests.saturating_sub(served + 1)));
            session.set_pipelined_prefix(bytes);
            let Some(reused) = self.proxy.process_new_http(session, shutdown).await else { return };
            drop(fresh.take());
            patience.heard();
            let Ok(back) = reused.consume().0.into_any().downcast::<Downstream>() else { return };
            // Pingora and we must agree where the request ended.
            if !back.is_between_requests() {
                return;
            }
            stream = back;
            served = served.saturating_add(1);
        }
    }
}

/// Waits for a whole head. When `over` ends, nothing more is waited for.
async fn await_head(
    stream: &mut Downstream,
    limits: &ClientLimits,
    over: Pin<&mut impl Future<Output = ()>>,
) -> Arrival {
    let mut scanner = Scanner::default();
    if stream.ahead().is_empty() {
        let first = tokio::select! {
            biased;
            first = stream.fill() => first,
            // Whoever says nothing has nothing to lose.
            () = over => return Arrival::Over,
        };
        // Gone, or broken: nobody to answer.
        if !matches!(first, Ok(1..)) {
            return Arrival::Over;
        }
    }
    let mut deadline = None;
    loop {
        match scanner.advance(stream.ahead(), limits) {
            Ok(Some(head)) => return Arrival::Head(head),
            Ok(None) => {}
            Err(failed) => return Arrival::Refused(failed),
        }
        // The clock is asked only where a head comes in pieces.
        let until = *deadline.get_or_insert_with(|| Instant::now() + limits.header);
        match timeout_at(until, stream.fill()).await {
            Ok(Ok(1..)) => {}
            Ok(_) if scanner.is_blank() => return Arrival::Over,
            Ok(_) => {
                return Arrival::Refused(Failed::because(Kind::ClientGone, "the connection ended in a head"));
            }
            Err(_) if scanner.is_blank() => return Arrival::Over,
            Err(_) => {
                return Arrival::Refused(Failed::because(Kind::RequestTimeout, "the head took too long"));
            }
        }
    }
}
