//! The exported functions, for every plugin. Must not hold logic of its own: it turns the generated types
//! into those of the SDK and back.

use std::marker::PhantomData;
use std::sync::Once;
use std::thread::LocalKey;

use super::Instances;
use crate::bindings::imports::edgewright::plugin::types;
use crate::bindings::{
    error_filter, lifecycle, log_filter, request_body_filter, request_filter, response_body_filter,
    response_filter, upstream_request_filter,
};
use crate::{
    Attempt, BodyVerdict, Chunk, Entry, ErrorVerdict, Failure, Plugin, Request, Response, ResponseHead,
    Verdict, log,
};

use error_filter::exports::edgewright::plugin::error_filter as error_filter_export;
use lifecycle::exports::edgewright::plugin::lifecycle as lifecycle_export;
use log_filter::exports::edgewright::plugin::log_filter as log_filter_export;
use request_body_filter::exports::edgewright::plugin::request_body_filter as request_body_filter_export;
use request_filter::exports::edgewright::plugin::request_filter as request_filter_export;
use response_body_filter::exports::edgewright::plugin::response_body_filter as response_body_filter_export;
use response_filter::exports::edgewright::plugin::response_filter as response_filter_export;
use upstream_request_filter::exports::edgewright::plugin::upstream_request_filter as upstream_request_filter_export;

/// Where the values of a plugin are kept. Implemented by `#[plugin]`.
pub trait Hosted: Plugin {
    /// The values, by configuration id.
    fn instances() -> &'static LocalKey<Instances<Self>>;
}

/// What the generated export macros are called with.
#[derive(Debug)]
pub struct Export<P>(PhantomData<P>);

impl<P: Hosted> lifecycle_export::Guest for Export<P> {
    fn configure(id: u32, json: String) -> Result<(), String> {
        log_panics();
        P::instances().with(|instances| instances.configure(id, &json))
    }
}

impl<P: Hosted> request_filter_export::Guest for Export<P> {
    fn on_request(config: u32) -> types::Verdict {
        let call = |plugin: &P| plugin.on_request(&mut Request::current());
        P::instances().with(|instances| verdict(instances.with(config, call)))
    }
}

impl<P: Hosted> upstream_request_filter_export::Guest for Export<P> {
    fn on_upstream_request(config: u32, attempt: upstream_request_filter_export::Attempt) -> types::Verdict {
        let attempt = Attempt { number: attempt.number, upstream: attempt.upstream, peer: attempt.peer };
        let call = |plugin: &P| plugin.on_upstream_request(&mut Request::current(), &attempt);
        P::instances().with(|instances| verdict(instances.with(config, call)))
    }
}

impl<P: Hosted> request_body_filter_export::Guest for Export<P> {
    fn on_request_body(config: u32, chunk: types::Chunk) -> types::BodyVerdict {
        let call = |plugin: &P| plugin.on_request_body(&Request::current(), received(chunk));
        P::instances().with(|instances| body_verdict(instances.with(config, call)))
    }
}

impl<P: Hosted> response_body_filter_export::Guest for Export<P> {
    fn on_response_body(config: u32, chunk: types::Chunk) -> types::BodyVerdict {
        let call = |plugin: &P| {
            plugin.on_response_body(&Request::current(), &mut ResponseHead::current(), received(chunk))
        };
        P::instances().with(|instances| body_verdict(instances.with(config, call)))
    }
}

impl<P: Hosted> error_filter_export::Guest for Export<P> {
    fn on_error(config: u32, failure: error_filter_export::Failure) -> error_filter_export::ErrorVerdict {
        let failure = Failure {
            error: failure.error,
            status: failure.status,
            attempts: failure.attempts,
            upstream: failure.upstream,
            peer: failure.peer,
            can_retry: failure.can_retry,
        };
        let call = |plugin: &P| plugin.on_error(&Request::current(), &failure);
        match P::instances().with(|instances| instances.with(config, call)).unwrap_or_default() {
            ErrorVerdict::Next => error_filter_export::ErrorVerdict::Next,
            ErrorVerdict::Retry => error_filter_export::ErrorVerdict::Retry,
            ErrorVerdict::Respond(made) => error_filter_export::ErrorVerdict::Respond(response(made)),
        }
    }
}

impl<P: Hosted> response_filter_export::Guest for Export<P> {
    fn on_response(config: u32) -> types::Verdict {
        let call = |plugin: &P| plugin.on_response(&Request::current(), &mut ResponseHead::current());
        P::instances().with(|instances| verdict(instances.with(config, call)))
    }
}

impl<P: Hosted> log_filter_export::Guest for Export<P> {
    fn on_log(config: u32, entry: log_filter_export::Entry) {
        let entry = Entry {
            status: entry.status,
            duration_us: entry.duration_us,
            request_bytes: entry.request_bytes,
            response_bytes: entry.response_bytes,
            upstream: entry.upstream,
            peer: entry.peer,
            decided_by: entry.decided_by,
            error: entry.error,
        };
        let call = |plugin: &P| plugin.on_log(&Request::current(), &ResponseHead::current(), &entry);
        P::instances().with(|instances| instances.with(config, call));
    }
}

/// A plugin that was never configured decides nothing, so the request fails: going on could let through what
/// the plugin is there to stop.
fn verdict(decided: Option<Verdict>) -> types::Verdict {
    match decided.unwrap_or_else(|| Response::new(500).into()) {
        Verdict::Next => types::Verdict::Next,
        Verdict::Respond(made) => types::Verdict::Respond(response(made)),
    }
}

fn received(chunk: types::Chunk) -> Chunk {
    Chunk { data: chunk.data.into(), last: chunk.last }
}

/// As [`verdict`].
fn body_verdict(decided: Option<BodyVerdict>) -> types::BodyVerdict {
    match decided.unwrap_or_else(|| Response::new(500).into()) {
        BodyVerdict::Pass => types::BodyVerdict::Pass,
        BodyVerdict::Replace(data) => types::BodyVerdict::Replace(data.into_vec()),
        BodyVerdict::Respond(made) => types::BodyVerdict::Respond(response(made)),
    }
}

fn response(made: Response) -> types::Response {
    types::Response {
        status: made.status,
        headers: made
            .headers
            .into_iter()
            .map(|header| types::Header { name: header.name, value: header.value.into_vec() })
            .collect(),
        body: made.body.into_vec(),
    }
}

/// Sends the message of a panic to the proxy's log: a component has no standard error of its own.
fn log_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|panic| log::error!("{panic}"))));
}
