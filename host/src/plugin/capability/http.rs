//! HTTP requests of a plugin's own: WIT `http-client`. A client for each origin that is granted and each worker.
//! Must not know the contract's types.

mod connect;
mod outcomes;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use thread_local::ThreadLocal;

use self::connect::{CannotConnect, Connector, Target};
pub(in crate::plugin) use self::outcomes::Outcomes;
use crate::config::model::{HttpGrant, HttpOrigin, PeerHost, Scheme};
use crate::plugin::error::LoadReason;

pub use self::connect::{Names, Surroundings};

/// How long a connection is kept for the next call: below what servers have.
const IDLE: Duration = Duration::from_secs(30);
/// Connections that one worker keeps to one origin.
const KEPT: usize = 16;
/// Bytes of an answer's head.
const MAX_HEAD: usize = 64 * 1024;

/// What a plugin may call.
#[derive(Debug)]
pub(in crate::plugin) struct Http {
    plugin: Arc<str>,
    origins: Vec<Origin>,
    calls: usize,
    answer: usize,
    outcomes: Outcomes,
}

/// One origin that is granted.
struct Origin {
    of: HttpOrigin,
    target: Arc<Target>,
    tls: Arc<rustls::ClientConfig>,
    /// A connection belongs to the runtime of its worker.
    clients: ThreadLocal<HttpClient>,
}

type HttpClient = Client<HttpsConnector<Connector>, Full<Bytes>>;

/// What came back.
#[derive(Debug)]
pub(in crate::plugin) struct Answer {
    pub(in crate::plugin) status: StatusCode,
    pub(in crate::plugin) headers: HeaderMap<HeaderValue>,
    pub(in crate::plugin) body: Bytes,
}

/// Why there is no answer: WIT `http-client.http-error`, as far as the call itself was fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plugin) enum NoAnswer {
    NotGranted,
    RefusedAddress,
    Unreachable,
    Tls,
    InvalidAnswer,
    TooLarge,
}

impl Http {
    /// # Errors
    /// The certificates of an origin can't be read.
    pub(super) fn new(
        plugin: &Arc<str>,
        grant: &HttpGrant,
        surroundings: &Arc<Surroundings>,
        outcomes: &Outcomes,
    ) -> Result<Self, LoadReason> {
        let system = tls::of_system(grant.origins.iter().any(|origin| origin.scheme == Scheme::Https));
        let origin = |origin: &HttpOrigin| {
            let tls = match &origin.ca {
                Some(file) => tls::of_file(file)?,
                None => Arc::clone(&system),
            };
            let target = Arc::new(Target::new(origin, surroundings));
            Ok(Origin { of: origin.clone(), target, tls, clients: ThreadLocal::new() })
        };
        Ok(Self {
            plugin: Arc::clone(plugin),
            origins: grant.origins.iter().map(origin).collect::<Result<_, LoadReason>>()?,
            calls: grant.calls,
            answer: grant.answer,
            outcomes: outcomes.clone(),
        })
    }

    pub(in crate::plugin) fn plugin(&self) -> &Arc<str> {
        &self.plugin
    }

    /// Calls that the plugin may make for one request.
    pub(in crate::plugin) fn calls(&self) -> usize {
        self.calls
    }

    /// Counts how a call went.
    pub(in crate::plugin) fn observe(&self, outcome: &'static str) {
        self.outcomes.count(&self.plugin, outcome);
    }

    /// Sends a request to one of the origins and reads the whole answer.
    pub(in crate::plugin) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        let origin = self.origins.iter().find(|origin| origin.is_of(request.uri()));
        let client = origin.ok_or(NoAnswer::NotGranted)?.client();
        let answer = client.request(request).await.map_err(|error| why(&error))?;
        let (head, body) = answer.into_parts();
        if !(200..=599).contains(&head.status.as_u16()) {
            return Err(NoAnswer::InvalidAnswer);
        }
        let body = Limited::new(body, self.answer).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { NoAnswer::TooLarge } else { why(&*error) }
        })?;
        Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
    }
}

impl Origin {
    fn is_of(&self, uri: &Uri) -> bool {
        let (scheme, usual) = match self.of.scheme {
            Scheme::Http => ("http", 80),
            Scheme::Https => ("https", 443),
        };
        let host = uri.host().unwrap_or_default();
        let same_host = match &self.of.host {
            PeerHost::Ip(ip) => {
                let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
                literal.parse() == Ok(*ip)
            }
            PeerHost::Name(name) => host.strip_suffix('.').unwrap_or(host).eq_ignore_ascii_case(name),
        };
        uri.scheme_str() == Some(scheme) && same_host && uri.port_u16().unwrap_or(usual) == self.of.port
    }

    fn client(&self) -> &HttpClient {
        self.clients.get_or(|| {
            let connector = HttpsConnectorBuilder::new()
                .with_tls_config((*self.tls).clone())
                .https_or_http()
                .enable_http1()
                .wrap_connector(Connector(Arc::clone(&self.target)));
            Client::builder(TokioExecutor::new())
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(KEPT)
                .pool_timer(TokioTimer::new())
                .http1_max_buf_size(MAX_HEAD)
                .build(connector)
        })
    }
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin").field("of", &self.of).finish_non_exhaustive()
    }
}

/// What is behind an error of the client, however deep.
fn why(error: &(dyn std::error::Error + 'static)) -> NoAnswer {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(connecting) = error.downcast_ref::<CannotConnect>() {
            return match connecting {
                CannotConnect::Refused => NoAnswer::RefusedAddress,
                CannotConnect::NoAddress | CannotConnect::Io(_) => NoAnswer::Unreachable,
            };
        }
        if error.is::<rustls::Error>() {
            return NoAnswer::Tls;
        }
        if let Some(hyper) = error.downcast_ref::<hyper::Error>()
            && hyper.is_parse()
        {
            return NoAnswer::InvalidAnswer;
        }
        // The source of such an error is that of what it holds, which would be passed over.
        next = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    NoAnswer::Unreachable
}
