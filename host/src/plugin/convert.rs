//! WIT ↔ http types: the only place where one becomes the other. What a plugin sends is checked here, so that
//! what comes out is fit to be sent.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tracing::Level;
use wasmtime::component::{ComponentType, Lower};

use super::bindings::{error_filter, log, types, upstream_request_filter};
use super::exchange::{Attempt, AttributeRefused, Entry, HeadSize, Piece, Place, PluginResponse, Trouble};
use super::head;

/// Bytes of a response that a plugin makes.
const BODY: usize = 1 << 20;

/// Every line of a head, as a plugin sees them.
pub(super) fn lines(head: &HeaderMap) -> Vec<types::Header> {
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| types::Header {
        name: name.as_str().to_owned(),
        value: value.as_bytes().to_vec(),
    };
    head.iter().map(line).collect()
}

/// The values of one name.
pub(super) fn values(head: &HeaderMap, name: &str) -> Vec<Vec<u8>> {
    head.get_all(name).iter().map(|value| value.as_bytes().to_vec()).collect()
}

/// The first value of one name.
pub(super) fn value(head: &HeaderMap, name: &str) -> Option<Vec<u8>> {
    head.get(name).map(|value| value.as_bytes().to_vec())
}

/// A status that a plugin may set.
pub(super) fn status(status: u16) -> Option<StatusCode> {
    (200..=599).contains(&status).then(|| StatusCode::from_u16(status).ok()).flatten()
}

/// A plugin's response, if it keeps the contract of WIT `types.response`.
///
/// # Errors
/// What is wrong with it, for the log.
pub(super) fn response(made: types::Response) -> Result<PluginResponse, String> {
    let status = status(made.status).ok_or_else(|| format!("status {} is not in 200 to 599", made.status))?;
    if made.body.len() > BODY {
        return Err(format!("the body has {} bytes, more than 1 MiB", made.body.len()));
    }
    if made.headers.len() > head::LINES {
        return Err(format!("it has {} header lines, more than {}", made.headers.len(), head::LINES));
    }
    let mut headers = Vec::with_capacity(made.headers.len());
    let mut bytes = 0;
    for line in made.headers {
        let refused = |error: types::HeaderError| {
            let name: String = line.name.chars().take(64).collect();
            format!("header `{name}`: {}", refusal(error))
        };
        let name = head::name(&line.name).map_err(&refused)?;
        let value = head::value(line.value).map_err(&refused)?;
        bytes += HeadSize::of_line(&name, &value).bytes;
        headers.push((name, value));
    }
    if bytes > head::HEAD {
        return Err(format!("its head has {bytes} bytes, more than 64 KiB"));
    }
    let body = if has_body(status) { Bytes::from(made.body) } else { Bytes::new() };
    Ok(PluginResponse { status, headers, body })
}

/// Whether a status goes with a body: RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5.
fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// A piece of a body; an empty last one where there is none.
pub(super) fn chunk(piece: Option<&Piece>) -> types::Chunk {
    types::Chunk {
        data: piece.map(|piece| piece.data.to_vec()).unwrap_or_default(),
        last: piece.is_none_or(|piece| piece.place == Place::Last),
    }
}

/// The attempt that is about to be sent.
pub(super) fn attempt(attempt: Option<&Attempt>) -> upstream_request_filter::Attempt {
    upstream_request_filter::Attempt {
        number: attempt.map_or(0, |attempt| attempt.number),
        upstream: attempt.map(|attempt| attempt.upstream.to_string()).unwrap_or_default(),
        peer: attempt.map(|attempt| attempt.peer.clone()).unwrap_or_default(),
    }
}

/// Why the request can't be served.
pub(super) fn trouble(trouble: Option<&Trouble>) -> error_filter::Failure {
    error_filter::Failure {
        error: trouble.map(|trouble| trouble.error.to_owned()).unwrap_or_default(),
        status: trouble.map_or(0, |trouble| trouble.status),
        attempts: trouble.map_or(0, |trouble| trouble.attempts),
        upstream: trouble.and_then(|trouble| trouble.upstream.as_deref().map(str::to_owned)),
        peer: trouble.and_then(|trouble| trouble.peer.clone()),
        can_retry: trouble.is_some_and(|trouble| trouble.can_retry),
    }
}

/// WIT `log-filter.entry`, whose texts are the request's own: the generated type would have a copy of each.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct FinishedEntry {
    status: u16,
    #[component(name = "duration-us")]
    duration_us: u64,
    #[component(name = "request-bytes")]
    request_bytes: u64,
    #[component(name = "response-bytes")]
    response_bytes: u64,
    upstream: Option<Arc<str>>,
    peer: Option<Arc<str>>,
    #[component(name = "decided-by")]
    decided_by: Option<Arc<str>>,
    error: Option<&'static str>,
}

/// The finished request.
pub(super) fn entry(entry: &Entry) -> FinishedEntry {
    FinishedEntry {
        status: entry.status,
        duration_us: u64::try_from(entry.duration.as_micros()).unwrap_or(u64::MAX),
        request_bytes: entry.request_bytes,
        response_bytes: entry.response_bytes,
        upstream: entry.upstream.clone(),
        peer: entry.peer.clone(),
        decided_by: entry.decided_by.clone(),
        error: entry.error,
    }
}

impl From<AttributeRefused> for types::AttributeError {
    fn from(refused: AttributeRefused) -> Self {
        match refused {
            AttributeRefused::InvalidKey => Self::InvalidKey,
            AttributeRefused::TooLarge => Self::TooLarge,
        }
    }
}

/// The level of a line of a plugin.
pub(super) fn level(level: log::Level) -> Level {
    match level {
        log::Level::Trace => Level::TRACE,
        log::Level::Debug => Level::DEBUG,
        log::Level::Info => Level::INFO,
        log::Level::Warn => Level::WARN,
        log::Level::Error => Level::ERROR,
    }
}

fn refusal(error: types::HeaderError) -> &'static str {
    match error {
        types::HeaderError::InvalidName => "the name is not one",
        types::HeaderError::InvalidValue => "the value holds control characters",
        types::HeaderError::HostOwned => "the host owns this field",
        types::HeaderError::TooLarge => "the value is over 16 KiB",
        types::HeaderError::WrongPhase => "not in this phase",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_keep_the_contract() {
        fn check(status: u16, header: (&str, &str), body: usize, expected: Result<(), &str>) {
            let header = types::Header { name: header.0.into(), value: header.1.into() };
            let made = response(types::Response { status, headers: vec![header], body: vec![b'x'; body] });
            assert_eq!(made.map(|_| ()), expected.map_err(str::to_owned));
        }
        check(200, ("a", "1"), 0, Ok(()));
        check(599, ("set-cookie", "a=1"), 1 << 20, Ok(()));
        check(101, ("a", "1"), 0, Err("status 101 is not in 200 to 599"));
        check(600, ("a", "1"), 0, Err("status 600 is not in 200 to 599"));
        check(0, ("a", "1"), 0, Err("status 0 is not in 200 to 599"));
        check(200, ("content-length", "1"), 0, Err("header `content-length`: the host owns this field"));
        check(200, ("a b", "1"), 0, Err("header `a b`: the name is not one"));
        check(200, ("a", "1\r\nb: 2"), 0, Err("header `a`: the value holds control characters"));
        check(200, ("a", "1"), (1 << 20) + 1, Err("the body has 1048577 bytes, more than 1 MiB"));
    }

    #[test]
    fn statuses_without_a_body_have_none() {
        fn check(status: u16, expected: usize) {
            let made = response(types::Response { status, headers: Vec::new(), body: b"text".to_vec() });
            assert_eq!(made.map(|made| made.body.len()), Ok(expected), "{status}");
        }
        check(200, 4);
        check(204, 0);
        check(205, 0);
        check(304, 0);
        check(404, 4);
    }
}
