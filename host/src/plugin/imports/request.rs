//! WIT `request`: the request of the running call. What it refuses is in [`target`](super::super::target) and
//! [`head`].

use std::fmt::Write as _;

use http::HeaderMap;
use http::uri::PathAndQuery;

use crate::phase::Phase;
use crate::plugin::bindings::request::{self, HashKeyError, TlsInfo, UpstreamError};
use crate::plugin::bindings::types::{AttributeError, Header, HeaderError, TargetError};
use crate::plugin::exchange::{Exchange, Facts, HeadSize, Heads};
use crate::plugin::store::State;
use crate::plugin::{convert, head, target};

/// Bytes of a key: WIT `request.set-hash-key`.
const MAX_HASH_KEY: usize = 8 * 1024;

impl request::Host for State {
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
        Ok(set_header(self, name, value))
    }

    fn append_header(&mut self, name: String, value: Vec<u8>) -> wasmtime::Result<Result<(), HeaderError>> {
        self.charge()?;
        Ok(append_header(self, name, value))
    }

    fn remove_header(&mut self, name: String) -> wasmtime::Result<Result<(), HeaderError>> {
        self.charge()?;
        Ok(remove_header(self, &name))
    }

    fn method(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(parts(self).map(|parts| parts.method.as_str().to_owned()).unwrap_or_default())
    }

    fn set_method(&mut self, method: String) -> wasmtime::Result<Result<(), TargetError>> {
        self.charge()?;
        Ok(set_method(self, &method))
    }

    fn scheme(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.scheme.to_owned()).unwrap_or_default())
    }

    fn tls(&mut self) -> wasmtime::Result<Option<TlsInfo>> {
        self.charge()?;
        Ok(facts(self).and_then(|facts| facts.tls.as_deref()).map(|tls| TlsInfo {
            version: tls.version.to_owned(),
            server_name: tls.server_name.as_deref().map(str::to_owned),
            client_certificate: tls.client.as_ref().map(|client| client.der.clone()),
            client_subject: tls.client.as_ref().map(|client| client.subject.clone()),
        }))
    }

    fn authority(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.authority.to_string()).unwrap_or_default())
    }

    fn set_authority(&mut self, authority: String) -> wasmtime::Result<Result<(), TargetError>> {
        self.charge()?;
        Ok(set_authority(self, &authority))
    }

    fn path(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(parts(self).map(|parts| parts.uri.path().to_owned()).unwrap_or_default())
    }

    fn set_path(&mut self, path: String) -> wasmtime::Result<Result<(), TargetError>> {
        self.charge()?;
        Ok(set_path(self, &path))
    }

    fn query(&mut self) -> wasmtime::Result<Option<String>> {
        self.charge()?;
        Ok(parts(self).and_then(|parts| parts.uri.query()).map(str::to_owned))
    }

    fn set_query(&mut self, query: Option<String>) -> wasmtime::Result<Result<(), TargetError>> {
        self.charge()?;
        Ok(set_query(self, query.as_deref()))
    }

    fn raw_target(&mut self) -> wasmtime::Result<Vec<u8>> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.raw_target.to_vec()).unwrap_or_default())
    }

    fn protocol(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.protocol.to_owned()).unwrap_or_default())
    }

    fn cookie(&mut self, name: String) -> wasmtime::Result<Option<Vec<u8>>> {
        self.charge()?;
        Ok(headers(self).and_then(|head| target::cookie(head, &name)).map(<[u8]>::to_vec))
    }

    fn client_address(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        let mut address = String::new();
        if let Some(facts) = facts(self) {
            // Writing to a string does not fail.
            let _ = write!(address, "{}", facts.client);
        }
        Ok(address)
    }

    fn route(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.route.to_string()).unwrap_or_default())
    }

    fn request_id(&mut self) -> wasmtime::Result<String> {
        self.charge()?;
        Ok(facts(self).map(|facts| facts.request_id.to_string()).unwrap_or_default())
    }

    fn body(&mut self) -> wasmtime::Result<Option<Vec<u8>>> {
        self.charge()?;
        Ok(self.exchange.as_deref().and_then(|exchange| exchange.body.as_deref()).map(<[u8]>::to_vec))
    }

    fn attribute(&mut self, key: String) -> wasmtime::Result<Option<Vec<u8>>> {
        self.charge()?;
        let exchange = self.exchange.as_deref();
        Ok(exchange.and_then(|exchange| exchange.attributes.get(&key)).map(<[u8]>::to_vec))
    }

    fn set_attribute(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), AttributeError>> {
        self.charge()?;
        // Outside of a request there is no room for any.
        let Some(exchange) = self.exchange.as_deref_mut() else { return Ok(Err(AttributeError::TooLarge)) };
        Ok(exchange.attributes.set(&key, value).map_err(AttributeError::from))
    }

    fn set_upstream(&mut self, name: String) -> wasmtime::Result<Result<(), UpstreamError>> {
        self.charge()?;
        Ok(set_upstream(self, &name))
    }

    fn set_hash_key(&mut self, key: Vec<u8>) -> wasmtime::Result<Result<(), HashKeyError>> {
        self.charge()?;
        Ok(set_hash_key(self, key))
    }
}

fn set_header(state: &mut State, name: String, value: Vec<u8>) -> Result<(), HeaderError> {
    let Exchange { heads, sizes, .. } = writable(state).ok_or(HeaderError::WrongPhase)?;
    let (name, value) = (head::name(&name)?, head::value(value)?);
    let line = HeadSize::of_line(&name, &value);
    head::room(&heads.request().headers, &mut sizes.request, line, Some(&name))?;
    heads.insert_request_header(name, value);
    Ok(())
}

fn append_header(state: &mut State, name: String, value: Vec<u8>) -> Result<(), HeaderError> {
    let Exchange { heads, sizes, .. } = writable(state).ok_or(HeaderError::WrongPhase)?;
    let (name, value) = (head::name(&name)?, head::value(value)?);
    let line = HeadSize::of_line(&name, &value);
    head::room(&heads.request().headers, &mut sizes.request, line, None)?;
    heads.append_request_header(name, value);
    Ok(())
}

fn remove_header(state: &mut State, name: &str) -> Result<(), HeaderError> {
    let heads = &mut writable(state).ok_or(HeaderError::WrongPhase)?.heads;
    heads.remove_request_header(&head::name(name)?);
    Ok(())
}

fn set_method(state: &mut State, method: &str) -> Result<(), TargetError> {
    let heads = early(state).ok_or(TargetError::WrongPhase)?;
    let method = target::method(method, heads.request().uri.path()).ok_or(TargetError::Invalid)?;
    heads.set_method(method);
    Ok(())
}

fn set_authority(state: &mut State, authority: &str) -> Result<(), TargetError> {
    let Exchange { heads, sizes, .. } = writable(state).ok_or(TargetError::WrongPhase)?;
    // It is more than one line that changes.
    sizes.request = None;
    heads.set_authority(target::authority(authority).ok_or(TargetError::Invalid)?);
    Ok(())
}

fn set_path(state: &mut State, path: &str) -> Result<(), TargetError> {
    let heads = &mut writable(state).ok_or(TargetError::WrongPhase)?.heads;
    let path = target::path(path).ok_or(TargetError::Invalid)?;
    let target = target::join(&path, heads.request().uri.query());
    put_target(&mut **heads, target)
}

fn set_query(state: &mut State, query: Option<&str>) -> Result<(), TargetError> {
    let heads = &mut writable(state).ok_or(TargetError::WrongPhase)?.heads;
    let query = query.map(|query| target::query(query).ok_or(TargetError::Invalid)).transpose()?;
    let target = target::join(heads.request().uri.path(), query.as_deref());
    put_target(&mut **heads, target)
}

fn put_target(heads: &mut dyn Heads, target: Option<PathAndQuery>) -> Result<(), TargetError> {
    heads.set_target(target.ok_or(TargetError::Invalid)?);
    Ok(())
}

fn set_upstream(state: &mut State, name: &str) -> Result<(), UpstreamError> {
    match state.exchange.as_deref_mut() {
        Some(exchange) if exchange.phase == Phase::Request => {
            exchange.upstream = Some(exchange.upstreams.id(name).ok_or(UpstreamError::Unknown)?);
            Ok(())
        }
        _ => Err(UpstreamError::WrongPhase),
    }
}

fn set_hash_key(state: &mut State, key: Vec<u8>) -> Result<(), HashKeyError> {
    match state.exchange.as_deref_mut() {
        Some(exchange) if exchange.phase == Phase::Request => {
            if key.len() > MAX_HASH_KEY {
                return Err(HashKeyError::TooLarge);
            }
            exchange.hash_key = Some(key);
            Ok(())
        }
        _ => Err(HashKeyError::WrongPhase),
    }
}

fn parts(state: &State) -> Option<&http::request::Parts> {
    Some(state.exchange.as_deref()?.heads.request())
}

fn headers(state: &State) -> Option<&HeaderMap> {
    parts(state).map(|parts| &parts.headers)
}

fn facts(state: &State) -> Option<&Facts> {
    state.exchange.as_deref().map(|exchange| &exchange.facts)
}

/// The exchange, where the request can be changed: in `request-filter`, and for an attempt.
fn writable(state: &mut State) -> Option<&mut Exchange> {
    let exchange = state.exchange.as_deref_mut()?;
    matches!(exchange.phase, Phase::Request | Phase::UpstreamRequest).then_some(exchange)
}

/// The heads, where all of the request can be changed: in `request-filter`.
fn early(state: &mut State) -> Option<&mut dyn Heads> {
    match state.exchange.as_deref_mut()? {
        Exchange { phase: Phase::Request, heads, .. } => Some(&mut **heads),
        _ => None,
    }
}
