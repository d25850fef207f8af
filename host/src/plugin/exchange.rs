//! One request as plugins see it: what the proxy lends to a chain, and what a chain leaves behind. Knows
//! no Pingora: heads are reached through [`Heads`], which the proxy implements. Knows no Wasmtime either.

mod failure;
mod head_size;

use std::any::Any;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, StatusCode};

use crate::ids::UpstreamId;
use crate::phase::Phase;

pub use failure::Failure;
pub(super) use head_size::HeadSize;
pub use head_size::HeadSizes;

/// The heads of a request and its response. Checks nothing: the limits of the contract are held by the
/// imports that call it.
pub trait Heads: Any + Send + Sync {
    /// Method, target, version and header lines of the request.
    fn request(&self) -> &http::request::Parts;
    /// Replaces every line of that name.
    fn insert_request_header(&mut self, name: HeaderName, value: HeaderValue);
    /// Adds a line of that name.
    fn append_request_header(&mut self, name: HeaderName, value: HeaderValue);
    /// Removes every line of that name.
    fn remove_request_header(&mut self, name: &HeaderName);
    fn set_method(&mut self, method: Method);
    /// Replaces what the upstream is sent as `Host` or `:authority`.
    fn set_authority(&mut self, authority: HeaderValue);
    /// Replaces path and query of the request.
    fn set_target(&mut self, target: PathAndQuery);

    /// Status and header lines of the response; `None` before there is one.
    fn response(&self) -> Option<&http::response::Parts>;
    fn set_status(&mut self, status: StatusCode);
    fn insert_response_header(&mut self, name: HeaderName, value: HeaderValue);
    fn append_response_header(&mut self, name: HeaderName, value: HeaderValue);
    fn remove_response_header(&mut self, name: &HeaderName);
    /// Puts another response in the place of the one there is, or where there is none: its status and lines,
    /// and nothing of the old ones.
    fn replace_response(&mut self, status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>);
}

/// What a request is lent to a chain as. Boxed once per request and handed from call to call; while a
/// call runs, it is in the instance's store and nowhere else.
pub struct Exchange {
    pub heads: Box<dyn Heads>,
    /// How large they are, in a phase in which a plugin changed them.
    pub sizes: HeadSizes,
    pub facts: Facts,
    /// The phase that runs: decides what can be written.
    pub phase: Phase,
    pub attributes: Attributes,
    /// The upstream that a plugin chose in place of the route's.
    pub upstream: Option<UpstreamId>,
    /// The key that a plugin set, for upstreams that balance by it.
    pub hash_key: Option<Vec<u8>>,
    /// What may be chosen.
    pub upstreams: Arc<dyn UpstreamNames>,
    /// What each call cost, in the order of the calls.
    pub calls: Vec<CallRecord>,
    /// The whole body of the request, where it was read before a peer was chosen.
    pub body: Option<Bytes>,
    /// The piece of a body that is looked at; only in the body phases.
    pub piece: Option<Piece>,
    /// Plugins that are left out of the rest of a body.
    pub passed_over: PassedOver,
    /// The attempt that is about to be sent; only in `upstream-request-filter`.
    pub attempt: Option<Attempt>,
    /// Why the request can't be served; only in `error-filter`.
    pub trouble: Option<Trouble>,
    /// HTTP calls that plugins made for this request.
    pub http_calls: HttpCalls,
    /// The finished request; only in `log-filter`.
    pub entry: Option<Entry>,
}

/// A request on its way along a chain. While a call runs, the exchange is in the instance and not here; it is
/// here again after the call, also after one that trapped, ran out of time or panicked.
///
/// It is lost in one case: when the future of a phase is dropped while a call is suspended on its fiber, which
/// is when the client has gone away.
pub struct Lent(Option<Box<Exchange>>);

impl Lent {
    pub fn new(exchange: Exchange) -> Self {
        Self(Some(Box::new(exchange)))
    }

    /// `None` only if a call was dropped half-way.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.0.as_deref()
    }

    /// As [`exchange`](Self::exchange).
    pub fn exchange_mut(&mut self) -> Option<&mut Exchange> {
        self.0.as_deref_mut()
    }

    /// The exchange, at the end of the request.
    pub fn into_exchange(self) -> Option<Box<Exchange>> {
        self.0
    }

    /// Into a call.
    pub(super) fn take(&mut self) -> Option<Box<Exchange>> {
        self.0.take()
    }

    /// Out of a call.
    pub(super) fn put(&mut self, exchange: Option<Box<Exchange>>) {
        self.0 = exchange;
    }
}

/// The names of the configuration's upstreams.
pub trait UpstreamNames: Send + Sync {
    fn id(&self, name: &str) -> Option<UpstreamId>;
}

/// What never changes during a request.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The request target as the client sent it; empty where the head still has it.
    pub raw_target: Bytes,
    /// Lower-case host with port, as the client asked for it; empty if it gave none.
    pub authority: Arc<str>,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Nothing for a connection in the clear.
    pub tls: Option<Arc<TlsFacts>>,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    pub client: IpAddr,
    pub route: Arc<str>,
    pub request_id: Arc<str>,
}

/// What is known of a connection's TLS: WIT `request.tls-info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// What the client asked for, in lower case.
    pub server_name: Option<Box<str>>,
    pub client: Option<ClientCertificate>,
}

/// A client's certificate that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// X.509.
    pub der: Vec<u8>,
    pub subject: String,
}

/// Attributes of a request: few, so a list. [`Attributes::set`] holds the limits of the WIT item
/// `request.set-attribute`.
#[derive(Debug, Clone, Default)]
pub struct Attributes(Vec<(Box<str>, Vec<u8>)>);

/// Why an attribute was not set: WIT `types.attribute-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeRefused {
    InvalidKey,
    TooLarge,
}

impl Attributes {
    /// Keys are at most this long, in bytes.
    pub const MAX_KEY: usize = 64;
    /// Values are at most this long, in bytes.
    pub const MAX_VALUE: usize = 8 * 1024;
    /// A request has at most this many.
    pub const MAX_COUNT: usize = 64;

    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.0.iter().find(|(name, _)| **name == *key).map(|(_, value)| value.as_slice())
    }

    /// Sets or replaces an attribute.
    ///
    /// # Errors
    /// The key is not one, or a limit is reached.
    pub fn set(&mut self, key: &str, value: Vec<u8>) -> Result<(), AttributeRefused> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        if key.is_empty() || key.len() > Self::MAX_KEY || !key.bytes().all(fits) {
            return Err(AttributeRefused::InvalidKey);
        }
        if value.len() > Self::MAX_VALUE {
            return Err(AttributeRefused::TooLarge);
        }
        if let Some((_, old)) = self.0.iter_mut().find(|(name, _)| **name == *key) {
            *old = value;
            return Ok(());
        }
        if self.0.len() >= Self::MAX_COUNT {
            return Err(AttributeRefused::TooLarge);
        }
        self.0.push((key.into(), value));
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(key, value)| (&**key, value.as_slice()))
    }
}

/// HTTP calls by plugin: few, so a list.
#[derive(Debug, Clone, Default)]
pub struct HttpCalls(Vec<(Arc<str>, usize)>);

impl HttpCalls {
    /// Whether a plugin that may make `most` calls may make one more, which is counted then.
    pub(super) fn count_one(&mut self, plugin: &Arc<str>, most: usize) -> bool {
        let known = self.0.iter_mut().find(|(name, _)| name == plugin);
        let count = match known {
            Some((_, count)) => count,
            None => {
                self.0.push((Arc::clone(plugin), 0));
                let Some((_, count)) = self.0.last_mut() else { return false };
                count
            }
        };
        let may = *count < most;
        *count += usize::from(may);
        may
    }
}

/// One call of a plugin's phase: for the access log.
#[derive(Debug, Clone)]
pub struct CallRecord {
    pub plugin: Arc<str>,
    pub phase: Phase,
    pub took: Duration,
}

/// One attempt at an upstream: WIT `upstream-request-filter.attempt`.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    pub upstream: Arc<str>,
    pub peer: String,
}

/// Why a request can't be served: WIT `error-filter.failure`.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// The access log's word for it.
    pub error: &'static str,
    /// Of the page that the host would send.
    pub status: u16,
    pub attempts: u32,
    pub upstream: Option<Arc<str>>,
    pub peer: Option<String>,
    /// Whether another attempt is safe.
    pub can_retry: bool,
}

/// The finished request: WIT `log-filter.entry`.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    pub status: u16,
    pub duration: Duration,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub upstream: Option<Arc<str>>,
    pub peer: Option<Arc<str>>,
    pub decided_by: Option<Arc<str>>,
    pub error: Option<&'static str>,
}

/// A response that a plugin made, checked against the contract.
#[derive(Debug, Clone)]
pub struct PluginResponse {
    pub status: StatusCode,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

/// What a chain decided in a phase.
#[derive(Debug)]
pub enum Decision {
    /// Go on.
    Next,
    /// Answer with this. In the response phase, [`Heads`] has its head already, with what the plugins behind
    /// it made of it: only the body is to be taken from here.
    Respond { by: Arc<str>, response: PluginResponse },
    /// A plugin failed and its `on-failure` is `closed`: answer with [`Failure::status`]. In the response phase,
    /// [`Heads`] has a response of that status already, with what the plugins behind it added.
    Failed { by: Arc<str>, failure: Failure },
}

/// Plugins that failed on a body, or that it is unfit for: a bit each, by their place in the phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassedOver {
    pub request: u64,
    pub response: u64,
}

impl PassedOver {
    /// Those of a body phase.
    pub fn of(&mut self, phase: Phase) -> &mut u64 {
        if phase == Phase::RequestBody { &mut self.request } else { &mut self.response }
    }
}

/// A piece of a body: WIT `types.chunk`.
#[derive(Debug, Clone)]
pub struct Piece {
    pub data: Bytes,
    pub place: Place,
}

/// Whether more comes behind a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Inside,
    Last,
}

/// What a chain made of a piece of a body.
#[derive(Debug)]
pub enum BodyDecision {
    /// This goes on: what came, or what plugins put in its place.
    Pass(Bytes),
    Respond {
        by: Arc<str>,
        response: PluginResponse,
    },
    Failed {
        by: Arc<str>,
        failure: Failure,
    },
}

/// What a chain decided about a failure.
#[derive(Debug)]
pub enum ErrorDecision {
    /// What the proxy does anyway.
    Next,
    /// Another peer, where that is safe.
    Retry,
    Respond {
        by: Arc<str>,
        response: PluginResponse,
    },
}
