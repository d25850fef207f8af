//! WIT `response`: status and head of the response of the running call.

use http::{HeaderMap, StatusCode};

use crate::phase::Phase;
use crate::plugin::bindings::response;
use crate::plugin::bindings::types::{Header, HeaderError};
use crate::plugin::exchange::{Exchange, HeadSize};
use crate::plugin::store::State;
use crate::plugin::{convert, head};

impl response::Host for State {
    fn status(&mut self) -> wasmtime::Result<u16> {
        self.charge()?;
        Ok(parts(self).map_or(0, |parts| parts.status.as_u16()))
    }

    fn set_status(&mut self, status: u16) -> wasmtime::Result<Result<(), response::StatusError>> {
        self.charge()?;
        let Ok(Exchange { heads, .. }) = writable(self) else {
            return Ok(Err(response::StatusError::WrongPhase));
        };
        let upgraded = heads.response().is_some_and(|parts| parts.status == StatusCode::SWITCHING_PROTOCOLS);
        match convert::status(status) {
            Some(status) if !upgraded => {
                heads.set_status(status);
                Ok(Ok(()))
            }
            _ => Ok(Err(response::StatusError::Invalid)),
        }
    }

    fn header(&mut self, name: String) -> wasmtime::Result<Option<Vec<u8>>> {
        self.charge()?;
        Ok(headers(self).and_then(|head| convert::value(head, &name)))
    }

    fn header_all(&mut self, name: String) -> wasmtime::Result<Vec<Vec<u8>>> {
        self.charge()?;
        Ok(headers(self).map(|head| convert::values(head, &name)).unwrap_or_default())
    }

    fn headers(&mut self) -> wasmtime::Result<Vec<Header>> {
        self.charge()?;
        Ok(headers(self).map(convert::lines).unwrap_or_default())
    }

    fn set_header(&mut self, name: String, value: Vec<u8>) -> wasmtime::Result<Result<(), HeaderError>> {
        self.charge()?;
        Ok(set(self, name, value))
    }

    fn append_header(&mut self, name: String, value: Vec<u8>) -> wasmtime::Result<Result<(), HeaderError>> {
        self.charge()?;
        Ok(append(self, name, value))
    }

    fn remove_header(&mut self, name: String) -> wasmtime::Result<Result<(), HeaderError>> {
        self.charge()?;
        Ok(remove(self, &name))
    }
}

fn set(state: &mut State, name: String, value: Vec<u8>) -> Result<(), HeaderError> {
    let Exchange { heads, sizes, .. } = writable(state)?;
    let (name, value) = (head::name(&name)?, head::value(value)?);
    if let Some(parts) = heads.response() {
        let line = HeadSize::of_line(&name, &value);
        head::room(&parts.headers, &mut sizes.response, line, Some(&name))?;
    }
    heads.insert_response_header(name, value);
    Ok(())
}

fn append(state: &mut State, name: String, value: Vec<u8>) -> Result<(), HeaderError> {
    let Exchange { heads, sizes, .. } = writable(state)?;
    let (name, value) = (head::name(&name)?, head::value(value)?);
    if let Some(parts) = heads.response() {
        let line = HeadSize::of_line(&name, &value);
        head::room(&parts.headers, &mut sizes.response, line, None)?;
    }
    heads.append_response_header(name, value);
    Ok(())
}

fn remove(state: &mut State, name: &str) -> Result<(), HeaderError> {
    let heads = &mut writable(state)?.heads;
    heads.remove_response_header(&head::name(name)?);
    Ok(())
}

fn parts(state: &State) -> Option<&http::response::Parts> {
    state.exchange.as_deref()?.heads.response()
}

fn headers(state: &State) -> Option<&HeaderMap> {
    parts(state).map(|parts| &parts.headers)
}

/// The exchange, where the response can be changed: in `response-filter`, and where it waits for its body.
fn writable(state: &mut State) -> Result<&mut Exchange, HeaderError> {
    let Some(exchange) = state.exchange.as_deref_mut() else { return Err(HeaderError::WrongPhase) };
    match exchange.phase {
        Phase::Response | Phase::ResponseBody if exchange.heads.response().is_some() => Ok(exchange),
        _ => Err(HeaderError::WrongPhase),
    }
}
