//! The double of the proxy on any target but wasm32: the same functions as the imports, on the request that
//! `testing` has lent to this thread. Must not know how a test is written.

pub(crate) mod counter;
pub(crate) mod http_client;
pub(crate) mod kv;
pub(crate) mod metrics;

use crate::testing::state::{Phase, State, change, current};
use crate::{
    AttributeError, Bytes, HashKeyError, Header, HeaderError, StatusError, TargetError, TlsInfo,
    UpstreamError,
};

pub(crate) mod log {
    use super::change;
    use crate::log::Level;

    pub(crate) fn write(level: Level, message: &str) {
        change(|state| state.logged.push((level, message.to_owned())));
    }
}

pub(crate) mod request {
    use super::*;
    use crate::testing::rules;

    pub(crate) fn header(name: &str) -> Option<Bytes> {
        current(|state| state.head.first(name))
    }

    pub(crate) fn header_all(name: &str) -> Vec<Bytes> {
        current(|state| state.head.all(name))
    }

    pub(crate) fn headers() -> Vec<Header> {
        current(|state| state.head.lines().to_vec())
    }

    pub(crate) fn set_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
        in_request(|state| state.head.insert(name, value), HeaderError::WrongPhase)
    }

    pub(crate) fn append_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
        in_request(|state| state.head.append(name, value), HeaderError::WrongPhase)
    }

    pub(crate) fn remove_header(name: &str) -> Result<(), HeaderError> {
        in_request(|state| state.head.remove(name), HeaderError::WrongPhase)
    }

    pub(crate) fn method() -> String {
        current(|state| state.method.clone())
    }

    pub(crate) fn set_method(method: &str) -> Result<(), TargetError> {
        in_request_phase(
            |state| rules::method(method).map(|()| state.method = method.to_owned()),
            TargetError::WrongPhase,
        )
    }

    pub(crate) fn scheme() -> String {
        current(|state| state.scheme.clone())
    }

    pub(crate) fn tls() -> Option<TlsInfo> {
        current(|state| state.tls.clone())
    }

    pub(crate) fn authority() -> String {
        current(|state| state.authority.clone())
    }

    pub(crate) fn set_authority(authority: &str) -> Result<(), TargetError> {
        set_target(rules::authority(authority), |state| state.authority = authority.to_owned())
    }

    pub(crate) fn path() -> String {
        current(|state| state.path.clone())
    }

    pub(crate) fn set_path(path: &str) -> Result<(), TargetError> {
        set_target(rules::path(path), |state| state.path = path.to_owned())
    }

    pub(crate) fn query() -> Option<String> {
        current(|state| state.query.clone())
    }

    pub(crate) fn set_query(query: Option<&str>) -> Result<(), TargetError> {
        set_target(query.map_or(Ok(()), rules::query), |state| state.query = query.map(str::to_owned))
    }

    pub(crate) fn raw_target() -> Bytes {
        current(|state| state.raw_target.as_str().into())
    }

    pub(crate) fn protocol() -> String {
        current(|state| state.protocol.clone())
    }

    pub(crate) fn cookie(name: &str) -> Option<Bytes> {
        current(|state| state.cookie(name))
    }

    pub(crate) fn client_address() -> String {
        current(|state| state.client_address.clone())
    }

    pub(crate) fn route() -> String {
        current(|state| state.route.clone())
    }

    pub(crate) fn request_id() -> String {
        current(|state| state.request_id.clone())
    }

    pub(crate) fn body() -> Option<Bytes> {
        current(|state| state.body.clone())
    }

    pub(crate) fn attribute(key: &str) -> Option<Bytes> {
        current(|state| state.attribute(key))
    }

    pub(crate) fn set_attribute(key: &str, value: &[u8]) -> Result<(), AttributeError> {
        // Without a request there is nothing to keep it with; the contract has no error for that.
        change(|state| state.set_attribute(key, value)).unwrap_or(Ok(()))
    }

    pub(crate) fn set_upstream(name: &str) -> Result<(), UpstreamError> {
        let choose = |state: &mut State| {
            if !state.upstreams.iter().any(|known| known == name) {
                return Err(UpstreamError::Unknown);
            }
            state.upstream = Some(name.to_owned());
            Ok(())
        };
        in_request_phase(choose, UpstreamError::WrongPhase)
    }

    pub(crate) fn set_hash_key(key: &[u8]) -> Result<(), HashKeyError> {
        let keep = |state: &mut State| {
            rules::hash_key(key)?;
            state.hash_key = Some(Bytes::from(key));
            Ok(())
        };
        in_request(keep, HashKeyError::WrongPhase)
    }

    fn set_target(checked: Result<(), TargetError>, set: impl FnOnce(&mut State)) -> Result<(), TargetError> {
        in_request(|state| checked.map(|()| set(state)), TargetError::WrongPhase)
    }

    /// What can be changed for an attempt, too.
    fn in_request<E>(set: impl FnOnce(&mut State) -> Result<(), E>, wrong_phase: E) -> Result<(), E> {
        within(&[Phase::Request, Phase::UpstreamRequest], set, wrong_phase)
    }

    /// What can't.
    fn in_request_phase<E>(set: impl FnOnce(&mut State) -> Result<(), E>, wrong_phase: E) -> Result<(), E> {
        within(&[Phase::Request], set, wrong_phase)
    }

    fn within<E>(
        phases: &[Phase],
        set: impl FnOnce(&mut State) -> Result<(), E>,
        wrong_phase: E,
    ) -> Result<(), E> {
        let allowed = |state: &State| state.phase.is_some_and(|phase| phases.contains(&phase));
        match change(|state| allowed(state).then(|| set(state))).flatten() {
            Some(done) => done,
            None => Err(wrong_phase),
        }
    }
}

pub(crate) mod response {
    use super::*;
    use crate::testing::state::Answer;

    pub(crate) fn status() -> u16 {
        readable(|answer| answer.status)
    }

    pub(crate) fn set_status(status: u16) -> Result<(), StatusError> {
        let set = |answer: &mut Answer| {
            if answer.status == 101 || !(200..=599).contains(&status) {
                return Err(StatusError::Invalid);
            }
            answer.status = status;
            Ok(())
        };
        in_response(set, StatusError::WrongPhase)
    }

    pub(crate) fn header(name: &str) -> Option<Bytes> {
        readable(|answer| answer.head.first(name))
    }

    pub(crate) fn header_all(name: &str) -> Vec<Bytes> {
        readable(|answer| answer.head.all(name))
    }

    pub(crate) fn headers() -> Vec<Header> {
        readable(|answer| answer.head.lines().to_vec())
    }

    pub(crate) fn set_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
        in_response(|answer| answer.head.insert(name, value), HeaderError::WrongPhase)
    }

    pub(crate) fn append_header(name: &str, value: &[u8]) -> Result<(), HeaderError> {
        in_response(|answer| answer.head.append(name, value), HeaderError::WrongPhase)
    }

    pub(crate) fn remove_header(name: &str) -> Result<(), HeaderError> {
        in_response(|answer| answer.head.remove(name), HeaderError::WrongPhase)
    }

    fn readable<T: Default>(read: impl FnOnce(&Answer) -> T) -> T {
        current(|state| match state.phase {
            Some(Phase::Response | Phase::ResponseBody | Phase::Log) if !state.streaming => {
                state.response.as_ref().map(read)
            }
            _ => None,
        })
        .unwrap_or_default()
    }

    fn in_response<E>(set: impl FnOnce(&mut Answer) -> Result<(), E>, wrong_phase: E) -> Result<(), E> {
        let done = change(|state| match (state.phase, &mut state.response) {
            (Some(Phase::Response | Phase::ResponseBody), Some(answer)) if !state.streaming => {
                Some(set(answer))
            }
            _ => None,
        });
        done.flatten().unwrap_or(Err(wrong_phase))
    }
}
