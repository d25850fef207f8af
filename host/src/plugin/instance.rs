//! One instance of a plugin: a store, its guest's functions, and how worn it is. It runs one call at a time,
//! for whichever route and phase. Must not know where it comes from or goes to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::{self, ComponentExportIndex, ComponentNamedList, Lift, Lower, TypedFunc};

use super::bindings::error_filter::{self, ErrorVerdict};
use super::bindings::types::{BodyVerdict, Chunk, Verdict};
use super::bindings::upstream_request_filter;
use super::blueprint::Exports;
use super::configuration::ConfigId;
use super::convert::FinishedEntry;
use super::epoch::Pulse;
use super::exchange::{Exchange, Failure};
use super::failure::Ended;
use super::fiber;
use super::limits::time::{Slice, Stack, TimeLimit};
use super::pool::Seat;
use super::store::{self, State};
use crate::config::model::Limits;

/// One instance.
pub(super) struct Instance {
    store: Store<State>,
    functions: Functions,
    stack: Stack,
    slice: Arc<Slice>,
    /// By [`ConfigId`]: whether the guest knows it.
    told: Vec<bool>,
    calls: u32,
    /// Given back to the pool's count when the instance goes.
    seat: Option<Seat>,
}

/// Why an instance is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worn {
    /// It ran as many as it may.
    Calls,
    /// It has grown too large.
    Memory,
}

/// WIT `lifecycle.configure`.
type Configure = TypedFunc<(u32, String), (Result<(), String>,)>;

/// What a guest exports.
pub(super) struct Functions {
    pub(super) configure: Option<Configure>,
    pub(super) request: Option<TypedFunc<(u32,), (Verdict,)>>,
    pub(super) upstream_request: Option<TypedFunc<(u32, upstream_request_filter::Attempt), (Verdict,)>>,
    pub(super) request_body: Option<TypedFunc<(u32, Chunk), (BodyVerdict,)>>,
    pub(super) response: Option<TypedFunc<(u32,), (Verdict,)>>,
    pub(super) response_body: Option<TypedFunc<(u32, Chunk), (BodyVerdict,)>>,
    pub(super) error: Option<TypedFunc<(u32, error_filter::Failure), (ErrorVerdict,)>>,
    pub(super) log: Option<TypedFunc<(u32, FinishedEntry), ()>>,
}

impl Functions {
    /// Looks them up and checks their types.
    pub(super) fn of(
        store: &mut Store<State>,
        instance: &component::Instance,
        exports: &Exports,
    ) -> wasmtime::Result<Self> {
        Ok(Self {
            configure: typed(store, instance, exports.configure.as_ref())?,
            request: typed(store, instance, exports.request.as_ref())?,
            upstream_request: typed(store, instance, exports.upstream_request.as_ref())?,
            request_body: typed(store, instance, exports.request_body.as_ref())?,
            response: typed(store, instance, exports.response.as_ref())?,
            response_body: typed(store, instance, exports.response_body.as_ref())?,
            error: typed(store, instance, exports.error.as_ref())?,
            log: typed(store, instance, exports.log.as_ref())?,
        })
    }
}

fn typed<P, R>(
    store: &mut Store<State>,
    instance: &component::Instance,
    export: Option<&ComponentExportIndex>,
) -> wasmtime::Result<Option<TypedFunc<P, R>>>
where
    P: ComponentNamedList + Lower,
    R: ComponentNamedList + Lift,
{
    export.map(|export| instance.get_typed_func(store, export)).transpose()
}

impl Instance {
    pub(super) fn new(store: Store<State>, functions: Functions, stack: Stack, seat: Option<Seat>) -> Self {
        let slice = store.data().watch.slice();
        let seat = seat.map(Seat::occupied);
        Self { store, functions, stack, slice, told: Vec::new(), calls: 0, seat }
    }

    /// It belongs to the thread of `pulse` from now on, and to this seat.
    pub(super) fn adopt(&mut self, seat: Seat, pulse: Arc<Pulse>) {
        self.slice = store::adopt(&mut self.store, pulse);
        self.seat = Some(seat.occupied());
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Calls the guest. After an error, the instance must not be used again.
    pub(super) async fn call<P, R>(
        &mut self,
        function: TypedFunc<P, R>,
        params: P,
        limit: TimeLimit,
    ) -> Result<R, Ended>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        self.calls = self.calls.saturating_add(1);
        store::begin(&mut self.store, limit);
        let store = &mut self.store;
        match self.stack {
            Stack::Worker => {
                let _running = self.slice.running();
                catch_unwind(AssertUnwindSafe(|| function.call(store, params)))
                    .map_err(Ended::panicked)?
                    .map_err(Ended::Guest)
            }
            Stack::Fiber => {
                let slice = Arc::clone(&self.slice);
                fiber::run(slice, limit.wall(), function.call_async(store, params)).await
            }
        }
    }

    /// The request of the next call.
    pub(super) fn lend(&mut self, exchange: Option<Box<Exchange>>) {
        self.store.data_mut().exchange = exchange;
    }

    /// The request back, whatever became of the call.
    pub(super) fn give_back(&mut self) -> Option<Box<Exchange>> {
        self.store.data_mut().exchange.take()
    }

    /// What the end of a call counts as.
    pub(super) fn failure(&self, ended: &Ended) -> Failure {
        ended.failure(&self.store.data().limits)
    }

    pub(super) fn knows(&self, config: ConfigId) -> bool {
        self.told.get(config.index()).copied().unwrap_or(false)
    }

    /// The guest has taken a configuration.
    pub(super) fn learned(&mut self, config: ConfigId) {
        if self.told.len() <= config.index() {
            self.told.resize(config.index() + 1, false);
        }
        if let Some(told) = self.told.get_mut(config.index()) {
            *told = true;
        }
    }

    /// Why it should not serve another call, where it should not.
    pub(super) fn worn(&self, limits: &Limits) -> Option<Worn> {
        if self.calls >= limits.calls {
            return Some(Worn::Calls);
        }
        (self.memory() > limits.kept_memory).then_some(Worn::Memory)
    }

    /// Linear memory that it has, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.store.data().limits.memory()
    }
}
