//! Stands between Pingora and a client's session while a body is the proxy's own: a request's that was read
//! already and goes to each attempt whole, or a response's whose head waits for it (`held`). All else is handed on.
//! Knows no plugins.
//!
//! It is put in the place of the session when that is needed, and taken out again before anything that needs to
//! know which protocol the client speaks.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::Digest;
use pingora::protocols::http::custom::CustomMessageWrite;
use pingora::protocols::http::custom::server::Session as CustomSession;
use pingora::protocols::http::{HttpTask, ServerSession};
use pingora::protocols::l4::socket::SocketAddr;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use super::held::Held;

/// Holds the place of a session until that is back.
#[derive(Default)]
pub(crate) struct StandIn(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The session, once its place was given up. The lock is taken once, by the thread of the request.
    returned: Mutex<Option<ServerSession>>,
    /// The connection ends with the response.
    closes: AtomicBool,
    /// The response that waits. The lock is held for moments, by the thread of the request.
    held: Mutex<Held>,
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StandIn {
    /// Takes the place of the session. `body` is all of the request's, where it was read already.
    pub(crate) fn install(session: &mut Session, body: Option<Bytes>) -> Self {
        let stand_in = Self::default();
        let inner = mem::replace(&mut *session.downstream_session, vacant());
        let standing = Standing { inner, body, shared: Arc::clone(&stand_in.0) };
        *session.downstream_session = ServerSession::new_custom(Box::new(standing));
        stand_in
    }

    /// Gives the place back. Returns a replacement that was not written.
    pub(crate) fn remove(self, session: &mut Session) -> Option<(Box<ResponseHeader>, Bytes)> {
        drop(mem::replace(&mut *session.downstream_session, vacant()));
        let returned = self.0.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(inner) = returned {
            *session.downstream_session = inner;
            if self.0.closes.load(Ordering::Relaxed) {
                session.set_keepalive(None);
            }
        }
        self.0.held().take_replacement()
    }

    /// Keeps a head back. What is written in its place is dropped.
    pub(crate) fn hold(&self, head: Box<ResponseHeader>) {
        *self.0.held() = Held::Waiting(head);
    }

    /// The head that is kept back.
    pub(crate) fn held(&self) -> Option<Box<ResponseHeader>> {
        self.0.held().take_waiting()
    }

    /// Lets a head go, and the body behind it. What is written from now on follows.
    pub(crate) fn release(&self, head: Box<ResponseHeader>, body: Bytes) {
        *self.0.held() = Held::Released(head, body);
    }

    /// Writes this before the trailers.
    pub(crate) fn emit(&self, rest: Bytes) {
        *self.0.held() = Held::Rest(rest);
    }

    /// Writes this in the place of the upstream's response: behind that if all of it is there, else as the end of
    /// the exchange, through `fail_to_proxy`.
    pub(crate) fn replace(&self, head: Box<ResponseHeader>, body: Bytes) {
        *self.0.held() = Held::Replaced(head, body);
    }

    /// Has the connection end with the response.
    pub(crate) fn close(&self) {
        self.0.closes.store(true, Ordering::Relaxed);
    }
}

/// Holds the place for the moment between two sessions.
fn vacant() -> ServerSession {
    ServerSession::new_custom(Box::new(()))
}

struct Standing {
    inner: ServerSession,
    body: Option<Bytes>,
    shared: Arc<Shared>,
}

impl Standing {
    fn apply_close(&mut self) {
        if self.shared.closes.load(Ordering::Relaxed) {
            self.inner.set_keepalive(None);
        }
    }
}

/// The session can't be taken out of a box of an unknown type: it comes out when the box is dropped.
impl Drop for Standing {
    fn drop(&mut self) {
        let inner = mem::replace(&mut self.inner, vacant());
        *self.shared.returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(inner);
    }
}

#[async_trait]
impl CustomSession for Standing {
    fn req_header(&self) -> &RequestHeader {
        self.inner.req_header()
    }

    fn req_header_mut(&mut self) -> &mut RequestHeader {
        self.inner.req_header_mut()
    }

    async fn read_body_bytes(&mut self) -> Result<Option<Bytes>> {
        if self.body.is_some() { Ok(None) } else { self.inner.read_request_body().await }
    }

    async fn drain_request_body(&mut self) -> Result<()> {
        self.inner.drain_request_body().await
    }

    async fn write_response_header(&mut self, head: Box<ResponseHeader>, _end: bool) -> Result<()> {
        self.apply_close();
        self.inner.write_response_header(head).await
    }

    async fn write_response_header_ref(&mut self, head: &ResponseHeader, _end: bool) -> Result<()> {
        self.apply_close();
        self.inner.write_response_header_ref(head).await
    }

    async fn write_body(&mut self, data: Bytes, end: bool) -> Result<()> {
        self.inner.write_response_body(data, end).await
    }

    async fn write_trailers(&mut self, trailers: HeaderMap) -> Result<()> {
        self.inner.write_response_trailers(trailers).await
    }

    async fn response_duplex_vec(&mut self, tasks: Vec<HttpTask>) -> Result<bool> {
        self.apply_close();
        let tasks = self.shared.held().arrange(tasks)?;
        if tasks.is_empty() {
            return Ok(false);
        }
        self.inner.response_duplex_vec(tasks).await
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_read_timeout(timeout);
    }

    fn get_read_timeout(&self) -> Option<Duration> {
        self.inner.get_read_timeout()
    }

    fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_write_timeout(timeout);
    }

    fn get_write_timeout(&self) -> Option<Duration> {
        self.inner.get_write_timeout()
    }

    fn set_total_drain_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_total_drain_timeout(timeout);
    }

    fn get_total_drain_timeout(&self) -> Option<Duration> {
        self.inner.get_total_drain_timeout()
    }

    fn request_summary(&self) -> String {
        self.inner.request_summary()
    }

    fn response_written(&self) -> Option<&ResponseHeader> {
        self.inner.response_written()
    }

    async fn shutdown(&mut self, _code: u32, _context: &str) {
        self.inner.shutdown().await;
    }

    fn is_body_done(&mut self) -> bool {
        self.body.is_some() || self.inner.is_body_done()
    }

    async fn finish(&mut self) -> Result<()> {
        self.inner.finish_body().await
    }

    fn is_body_empty(&mut self) -> bool {
        self.body.as_ref().map_or_else(|| self.inner.is_body_empty(), Bytes::is_empty)
    }

    /// Where the body was read, this waits for the client to go away.
    async fn read_body_or_idle(&mut self, no_body_expected: bool) -> Result<Option<Bytes>> {
        self.inner.read_body_or_idle(no_body_expected || self.body.is_some()).await
    }

    fn body_bytes_sent(&self) -> usize {
        self.inner.body_bytes_sent()
    }

    fn body_bytes_read(&self) -> usize {
        self.inner.body_bytes_read()
    }

    fn digest(&self) -> Option<&Digest> {
        self.inner.digest()
    }

    fn digest_mut(&mut self) -> Option<&mut Digest> {
        self.inner.digest_mut()
    }

    fn client_addr(&self) -> Option<&SocketAddr> {
        self.inner.client_addr()
    }

    fn server_addr(&self) -> Option<&SocketAddr> {
        self.inner.server_addr()
    }

    fn pseudo_raw_h1_request_header(&self) -> Bytes {
        self.inner.to_h1_raw()
    }

    fn enable_retry_buffering(&mut self) {
        if self.body.is_none() {
            self.inner.enable_retry_buffering();
        }
    }

    fn retry_buffer_truncated(&self) -> bool {
        self.body.is_none() && self.inner.retry_buffer_truncated()
    }

    /// What each attempt sends.
    fn get_retry_buffer(&self) -> Option<Bytes> {
        match &self.body {
            Some(body) => (!body.is_empty()).then(|| body.clone()),
            None => self.inner.get_retry_buffer(),
        }
    }

    async fn finish_custom(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_reader(
        &mut self,
    ) -> Option<Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>> {
        None
    }

    fn restore_custom_message_reader(
        &mut self,
        _reader: Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>,
    ) -> Result<()> {
        no_messages()
    }

    fn take_custom_message_writer(&mut self) -> Option<Box<dyn CustomMessageWrite>> {
        None
    }

    fn restore_custom_message_writer(&mut self, _writer: Box<dyn CustomMessageWrite>) -> Result<()> {
        no_messages()
    }

    fn is_upgrade_req(&self) -> bool {
        self.inner.is_upgrade_req()
    }

    fn was_upgraded(&self) -> bool {
        self.inner.was_upgraded()
    }
}

/// There is nothing to restore: none was taken.
fn no_messages() -> Result<()> {
    Err(Error::new(ErrorType::InternalError))
}
