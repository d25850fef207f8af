//! One call of one phase: an instance from the pool, the configuration it needs, the request lent to it and
//! taken back. What differs between phases is a [`Hook`], one file each. Must not know chains.

mod error;
mod log;
mod request;
mod request_body;
mod response;
mod response_body;
mod upstream_request;

use bytes::Bytes;
use wasmtime::component::{ComponentNamedList, Lift, Lower, TypedFunc};

pub(super) use error::ErrorFilter;
pub(super) use log::LogFilter;
pub(super) use request::RequestFilter;
pub(super) use request_body::RequestBodyFilter;
pub(super) use response::ResponseFilter;
pub(super) use response_body::ResponseBodyFilter;
pub(super) use upstream_request::UpstreamRequestFilter;

use super::bindings::types::{BodyVerdict, Verdict};
use super::configuration::ConfigId;
use super::convert;
use super::exchange::{Exchange, Failure, Lent, PluginResponse};
use super::failure::FailedCall;
use super::instance::{Functions, Instance};
use super::loaded::Plugin;
use super::pool::Lease;
use super::setup::{self, From};
use crate::phase::Phase;

/// What is particular to a phase.
pub(super) trait Hook {
    type Params: ComponentNamedList + Lower + Send + Sync;
    type Returned: ComponentNamedList + Lift + Send + Sync + 'static;

    const PHASE: Phase;

    /// The guest's function, where it has this phase.
    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>>;

    /// What it is called with.
    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params;

    /// What it decided.
    ///
    /// # Errors
    /// How the verdict breaks the contract.
    fn outcome(returned: Self::Returned) -> Result<Outcome, String>;
}

/// How one call went.
#[derive(Debug)]
pub(super) enum Outcome {
    Next,
    Respond(PluginResponse),
    /// Of `error-filter` alone.
    Retry,
    /// Of the body phases alone.
    Replace(Bytes),
    /// It failed, and is to be passed over.
    Skipped,
    Failed(Failure),
}

/// Calls a phase of a plugin. Waits only where the plugin runs on a fiber. The exchange is in `lent` before
/// and after; a failure is logged and counted here.
pub(super) async fn run<H: Hook>(plugin: &Plugin, config: ConfigId, lent: &mut Lent) -> Outcome {
    let mut instance = match ready_instance::<H>(plugin, config, lent).await {
        Ok(instance) => instance,
        Err(failure) => return Outcome::Failed(failure),
    };
    let Some(function) = H::function(instance.functions()) else {
        // The chain asks only for phases that are exported.
        plugin.pool().give_back(instance);
        return Outcome::Next;
    };
    let Some(exchange) = lent.take() else {
        plugin.pool().give_back(instance);
        return Outcome::Failed(Failure::HostPanic);
    };
    let params = H::params(config, &exchange);
    instance.lend(Some(exchange));
    let returned = instance.call(function, params, plugin.time_limit()).await;
    lent.put(instance.give_back());
    match returned {
        Ok(returned) => {
            plugin.pool().give_back(instance);
            H::outcome(returned).unwrap_or_else(|mistake| {
                failed_call::<H>(plugin, Failure::BadResponse, lent).log(&mistake, "");
                Outcome::Failed(Failure::BadResponse)
            })
        }
        Err(ended) => {
            let failure = instance.failure(&ended);
            failed_call::<H>(plugin, failure, lent).log_ended(&ended);
            Outcome::Failed(failure)
        }
    }
}

/// An instance that knows the configuration. (`&mut Lent`, though it is only read: heads can be sent to another
/// thread, but not shared.)
async fn ready_instance<H: Hook>(
    plugin: &Plugin,
    config: ConfigId,
    lent: &mut Lent,
) -> Result<Box<Instance>, Failure> {
    let lease = match plugin.pool().lease() {
        // Boxed, so that calls that find one free do not carry the room for a wait.
        // Where nothing may wait, no instance is busy over a wait either.
        Lease::Exhausted if !H::PHASE.is_immediate() => Box::pin(plugin.pool().queue()).await,
        found => found,
    };
    let from = match lease {
        Lease::Ready(instance) if instance.knows(config) => return Ok(instance),
        Lease::Ready(instance) => From::Idle(instance),
        Lease::Build(seat) => From::Nothing(seat),
        Lease::Exhausted => {
            failed_call::<H>(plugin, Failure::PoolExhausted, lent).log("all instances are busy", "");
            return Err(Failure::PoolExhausted);
        }
    };
    setup::ready(plugin, from, config).await.map_err(|unready| {
        failed_call::<H>(plugin, Failure::Instantiate, lent).log(unready.detail(), unready.backtrace());
        Failure::Instantiate
    })
}

fn failed_call<'a, H: Hook>(plugin: &'a Plugin, failure: Failure, lent: &'a Lent) -> FailedCall<'a> {
    FailedCall {
        voice: plugin.blueprint().voice(),
        plugin: plugin.name(),
        phase: Some(H::PHASE),
        request: lent.exchange().map_or("-", |exchange| &exchange.facts.request_id),
        failure,
    }
}

/// A verdict of the filters.
fn judge(verdict: Verdict) -> Result<Outcome, String> {
    match verdict {
        Verdict::Next => Ok(Outcome::Next),
        Verdict::Respond(response) => convert::response(response).map(Outcome::Respond),
    }
}

/// A verdict of the body filters.
fn judge_body(verdict: BodyVerdict) -> Result<Outcome, String> {
    match verdict {
        BodyVerdict::Pass => Ok(Outcome::Next),
        BodyVerdict::Replace(bytes) => Ok(Outcome::Replace(bytes.into())),
        BodyVerdict::Respond(response) => convert::response(response).map(Outcome::Respond),
    }
}
