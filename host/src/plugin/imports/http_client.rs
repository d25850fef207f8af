//! WIT `http-client`. The only import that waits. Must not know how an answer comes: [`Http`] does.

use std::time::{Duration, Instant};

use ::http::{Method, Request, Uri};
use bytes::Bytes;
use http_body_util::Full;

use crate::plugin::bindings::http_client::{self, Answer, Call, HttpError};
use crate::plugin::bindings::types::Header;
use crate::plugin::capability::http::{self, Http, NoAnswer};
use crate::plugin::exchange::HeadSize;
use crate::plugin::head;
use crate::plugin::imports::not_granted;
use crate::plugin::store::State;

/// Where a call says no time.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Bytes of a URL.
const MAX_URL: usize = 16 * 1024;
/// Bytes of a request's body.
const MAX_BODY: usize = 1024 * 1024;

impl http_client::Host for State {
    async fn send(&mut self, call: Call) -> wasmtime::Result<Result<Answer, HttpError>> {
        self.charge()?;
        let http = self.capabilities.http.clone().ok_or_else(not_granted)?;
        let outcome = match self.admit(&http, call) {
            Ok((request, limit)) => {
                let began = Instant::now();
                let sent = tokio::time::timeout(limit, http.send(request)).await;
                self.waiting_left = self.waiting_left.saturating_sub(began.elapsed());
                sent.map_or(Err(HttpError::TimedOut), |sent| sent.map(Answer::from).map_err(HttpError::from))
            }
            Err(refused) => Err(refused),
        };
        http.observe(outcome.as_ref().map_or_else(|error| word(*error), |_| "answered"));
        Ok(outcome)
    }
}

impl State {
    /// The request, and how long it may take.
    fn admit(&mut self, http: &Http, call: Call) -> Result<(Request<Full<Bytes>>, Duration), HttpError> {
        let exchange = self.exchange.as_deref_mut().ok_or(HttpError::WrongPhase)?;
        let asked = call.timeout_ms.map_or(TIMEOUT, |millis| Duration::from_millis(millis.into()));
        let request = request(call)?;
        if !exchange.http_calls.count_one(http.plugin(), http.calls()) {
            return Err(HttpError::TooMany);
        }
        Ok((request, asked.min(self.waiting_left)))
    }
}

fn request(call: Call) -> Result<Request<Full<Bytes>>, HttpError> {
    let invalid = |_| HttpError::InvalidCall;
    let method = Method::from_bytes(call.method.as_bytes()).map_err(|_| HttpError::InvalidCall)?;
    if method == Method::CONNECT || call.url.len() > MAX_URL || call.body.len() > MAX_BODY {
        return Err(HttpError::InvalidCall);
    }
    let uri: Uri = call.url.parse().map_err(|_| HttpError::InvalidCall)?;
    let authority = uri.authority().ok_or(HttpError::InvalidCall)?;
    // An empty port is none, and user information is a way to look like another host.
    if authority.as_str().contains('@') || authority.as_str().ends_with(':') {
        return Err(HttpError::InvalidCall);
    }
    let mut request = Request::new(Full::new(Bytes::from(call.body)));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    let mut size = None;
    for Header { name, value } in call.headers {
        let (name, value) = (head::name(&name).map_err(invalid)?, head::value(value).map_err(invalid)?);
        let line = HeadSize::of_line(&name, &value);
        head::room(request.headers(), &mut size, line, None).map_err(invalid)?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

impl From<http::Answer> for Answer {
    fn from(answer: http::Answer) -> Self {
        let line = |(name, value): (&::http::HeaderName, &::http::HeaderValue)| Header {
            name: name.as_str().to_owned(),
            value: value.as_bytes().to_vec(),
        };
        Self {
            status: answer.status.as_u16(),
            headers: answer.headers.iter().map(line).collect(),
            body: answer.body.to_vec(),
        }
    }
}

impl From<NoAnswer> for HttpError {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::NotGranted => Self::NotGranted,
            NoAnswer::RefusedAddress => Self::RefusedAddress,
            NoAnswer::Unreachable => Self::Unreachable,
            NoAnswer::Tls => Self::Tls,
            NoAnswer::InvalidAnswer => Self::InvalidAnswer,
            NoAnswer::TooLarge => Self::TooLarge,
        }
    }
}

/// As in the contract: the `outcome` of the metric.
fn word(error: HttpError) -> &'static str {
    match error {
        HttpError::WrongPhase => "wrong-phase",
        HttpError::InvalidCall => "invalid-call",
        HttpError::NotGranted => "not-granted",
        HttpError::RefusedAddress => "refused-address",
        HttpError::TooMany => "too-many",
        HttpError::TimedOut => "timed-out",
        HttpError::Unreachable => "unreachable",
        HttpError::Tls => "tls",
        HttpError::InvalidAnswer => "invalid-answer",
        HttpError::TooLarge => "too-large",
    }
}
