//! The import `http-client`, in the SDK's types. Must not hold logic.

use crate::bindings::imports::edgewright::plugin::{http_client as wit_http, types};
use crate::http_client::{Answer, Call};
use crate::{Header, HttpError};

pub(crate) fn send(call: &Call) -> Result<Answer, HttpError> {
    let line = |line: &Header| types::Header { name: line.name.clone(), value: line.value.to_vec() };
    let answer = wit_http::send(&wit_http::Call {
        method: call.method.clone(),
        url: call.url.clone(),
        headers: call.headers.iter().map(line).collect(),
        body: call.body.to_vec(),
        timeout_ms: call.timeout.map(|time| u32::try_from(time.as_millis()).unwrap_or(u32::MAX)),
    })?;
    let line = |line: types::Header| Header { name: line.name, value: line.value.into() };
    Ok(Answer {
        status: answer.status,
        headers: answer.headers.into_iter().map(line).collect(),
        body: answer.body.into(),
    })
}

super::same_errors!(wit_http::HttpError => HttpError {
    WrongPhase, InvalidCall, NotGranted, RefusedAddress, TooMany, TimedOut, Unreachable, Tls, InvalidAnswer, TooLarge
});
