//! The path of a request: Pingora's hooks, one file per phase. Knows no raw configuration, no control and
//! no Wasmtime.

mod action;
mod admission;
mod body_read;
mod connection;
mod connections;
mod content_length;
mod ctx;
mod downstream;
mod edit;
mod error_page;
mod expectation;
mod failure;
mod forwarded;
mod grpc_web;
mod handshake;
mod hash_key;
mod heads;
mod held;
mod hop_by_hop;
mod http1;
mod http2;
mod in_flight;
mod leave;
mod local_response;
mod loops;
mod memo;
mod mirror;
mod phase;
mod preface;
mod proxy_protocol;
mod rehearsal;
mod request_id;
mod retry;
mod sanitize;
mod server_timing;
mod split;
mod stand_in;
mod survey;
mod trace_context;
mod trial;
mod variables;
mod via;
mod whole_body;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::proxy::{FailToProxy, ProxyHttp, ProxyWarnLogContext, Session};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, Result};

use crate::snapshot::Generation;

pub(crate) use connection::Arrival;
pub use connection::{Edge, log_refused};
pub(crate) use connections::Standing;
pub use connections::{Budget, Connections, Fresh};
pub use ctx::Ctx;
pub use in_flight::Requests;
pub use leave::{Farewell, Leave, farewell};
pub use rehearsal::{Refused, Rehearsal};
pub use trial::{Course, Origin, Outage, Question, Reply, Verdict, play};

/// What fuzz targets reach.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use super::downstream::fuzzing::end_of_chunks;
    pub use super::edit::fuzzing::edited_paths;
    pub use super::http1::fuzzing::{Read, head};
}

/// The proxy: hands each of Pingora's hooks to its phase.
pub struct EdgeProxy {
    /// What new requests are served by.
    pub generation: Arc<ArcSwap<Generation>>,
    pub in_flight: Requests,
}

#[async_trait]
impl ProxyHttp for EdgeProxy {
    /// Boxed: Pingora moves it through several futures, and a pointer moves faster than some hundred bytes.
    type CTX = Box<Ctx>;

    fn new_ctx(&self) -> Box<Ctx> {
        Box::new(Ctx::new(self.generation.load_full(), self.in_flight.enter()))
    }

    /// None: Pingora's own compression module would be asked on each request and is never on.
    fn init_downstream_modules(&self, _modules: &mut HttpModules) {}

    async fn early_request_filter(&self, session: &mut Session, ctx: &mut Box<Ctx>) -> Result<()> {
        phase::early_request::run(session, ctx)
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut Box<Ctx>) -> Result<bool> {
        phase::request::run(session, ctx).await
    }

    async fn upstream_peer(&self, session: &mut Session, ctx: &mut Box<Ctx>) -> Result<Box<HttpPeer>> {
        let mut peer = phase::select_peer::run(session, ctx).await?;
        phase::upgrade::expect(session, ctx, &mut peer);
        Ok(peer)
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        ctx: &mut Box<Ctx>,
    ) -> Result<()> {
        phase::upstream_request::run(session, head, ctx).await
    }

    async fn request_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end_of_stream: bool,
        ctx: &mut Box<Ctx>,
    ) -> Result<()> {
        phase::body_limit::run(body.as_ref(), ctx)?;
        phase::request_body::run(session, ctx, body, end_of_stream).await
    }

    async fn upstream_response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        ctx: &mut Box<Ctx>,
    ) -> Result<()> {
        phase::upstream_response::run(session, head, ctx)
    }

    fn upstream_response_body_filter(
        &self,
        _session: &mut Session,
        _body: &mut Option<Bytes>,
        _end_of_stream: bool,
        ctx: &mut Box<Ctx>,
    ) -> Result<Option<Duration>> {
        phase::upstream_response::in_time(ctx)
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        ctx: &mut Box<Ctx>,
    ) -> Result<()> {
        phase::response::run(session, head, ctx).await
    }

    fn response_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end_of_stream: bool,
        ctx: &mut Box<Ctx>,
    ) -> Result<Option<Duration>> {
        phase::response_body::run(session, ctx, body, end_of_stream)?;
        ctx.traces.response_bytes += body.as_ref().map_or(0, Bytes::len) as u64;
        Ok(None)
    }

    fn upstream_response_trailer_filter(
        &self,
        session: &mut Session,
        _trailers: &mut HeaderMap,
        ctx: &mut Box<Ctx>,
    ) -> Result<()> {
        phase::response_body::trailers(session, ctx)
    }

    async fn response_trailer_filter(
        &self,
        _session: &mut Session,
        trailers: &mut HeaderMap,
        ctx: &mut Box<Ctx>,
    ) -> Result<Option<Bytes>> {
        grpc_web::end(trailers, ctx)
    }

    fn fail_to_connect(
        &self,
        session: &mut Session,
        _peer: &HttpPeer,
        ctx: &mut Box<Ctx>,
        error: Box<Error>,
    ) -> Box<Error> {
        phase::fail::to_connect(session, ctx, error)
    }

    fn error_while_proxy(
        &self,
        _peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        ctx: &mut Box<Ctx>,
        client_reused: bool,
    ) -> Box<Error> {
        phase::fail::while_proxying(session, ctx, error, client_reused)
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, ctx: &mut Box<Ctx>) -> FailToProxy {
        phase::fail::to_proxy(session, ctx, error).await
    }

    /// The access log says it, with more.
    fn suppress_error_log(&self, _session: &Session, _ctx: &Box<Ctx>, _error: &Error) -> bool {
        true
    }

    /// The access log and the metrics count attempts; a peer that fails is told once.
    fn suppress_proxy_warn_log(
        &self,
        _session: &Session,
        _ctx: &Box<Ctx>,
        _error: &Error,
        _context: ProxyWarnLogContext,
    ) -> bool {
        true
    }

    async fn logging(&self, session: &mut Session, _error: Option<&Error>, ctx: &mut Box<Ctx>) {
        phase::log::run(session, ctx).await;
    }
}
