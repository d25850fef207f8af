//! HTTP/2 connections: how much one of them may have, in Pingora's words and in those of the HTTP/2 library.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::apps::{HttpServerApp, HttpServerOptions, ReusedHttpStream};
use pingora::protocols::http::ServerSession;
use pingora::protocols::http::v2::server::H2Options;
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;

use crate::config::model::ClientLimits;

use super::EdgeProxy;

/// The proxy as Pingora asks it about one HTTP/2 connection.
pub(super) struct Http2 {
    proxy: Arc<HttpProxy<EdgeProxy>>,
    options: HttpServerOptions,
    limits: ClientLimits,
}

/// What the list of a head counts for each line beside its bytes (RFC 9113, section 6.5.2).
const LINE: usize = 32;

/// Streams that a client reset and that wait to be dealt with, at most; past it, the connection ends. As many as
/// the library has for this: its guard against rapid resets.
const RESET_STREAMS: usize = 20;

impl Http2 {
    pub(super) fn new(proxy: Arc<HttpProxy<EdgeProxy>>, limits: ClientLimits) -> Self {
        let mut options = HttpServerOptions::default();
        // Pingora would look for the preface by itself; it is told that it came.
        options.h2c = true;
        options.h2_idle_timeout = Some(limits.idle);
        Self { proxy, options, limits }
    }
}

#[async_trait]
impl HttpServerApp for Http2 {
    async fn process_new_http(
        self: &Arc<Self>,
        mut session: ServerSession,
        shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        session.set_write_timeout(Some(self.limits.write));
        self.proxy.process_new_http(session, shutdown).await
    }

    fn server_options(&self) -> Option<&HttpServerOptions> {
        Some(&self.options)
    }

    fn h2_options(&self) -> Option<H2Options> {
        let list = self.limits.header_bytes + LINE * self.limits.header_lines;
        let mut options = H2Options::default();
        options.max_header_list_size(u32::try_from(list).unwrap_or(u32::MAX));
        options.max_concurrent_streams(self.limits.streams);
        options.max_pending_accept_reset_streams(RESET_STREAMS);
        Some(options)
    }
}
