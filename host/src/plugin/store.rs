//! What a store holds beside its guest: the request that is lent for one call, and what bounds the call. Must
//! not know what the imports do with it.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::Store;

use super::capability::Capabilities;
use super::engine::Engine;
use super::epoch::Pulse;
use super::exchange::Exchange;
use super::limits::time::{FIRST_LOOK, Slice, Stack, TimeLimit, Watch};
use super::limits::{Limits, Peak, Room};
use super::voice::Voice;
use super::wasi::{Granted, Wasi};

/// What the HTTP calls in one call may wait together: a little less than the call itself may, so that the guest is
/// told before it is cut.
const CALLS_WAIT: Duration = Duration::from_millis(900);

/// The host's state of one instance.
pub(super) struct State {
    /// The request of the running call; nothing between calls and in `configure`.
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) limits: Limits,
    pub(super) watch: Watch,
    pub(super) voice: Arc<Voice>,
    pub(super) capabilities: Arc<Capabilities>,
    /// What its HTTP calls may still wait in the running call.
    pub(super) waiting_left: Duration,
    /// Made when the guest first uses WASI: most never do.
    wasi: Option<Box<Wasi>>,
}

impl State {
    /// Called first in every host function.
    ///
    /// # Errors
    /// The host-call budget of the call is used up.
    pub(super) fn charge(&mut self) -> wasmtime::Result<()> {
        self.limits.charge()
    }

    /// The id of the request, where there is one.
    pub(super) fn request_id(&self) -> Option<&str> {
        self.exchange.as_deref().map(|exchange| &*exchange.facts.request_id)
    }

    pub(super) fn wasi(&mut self) -> &mut Wasi {
        self.wasi_and_limits().0
    }

    /// The files that it may read, and what a host function that reads them needs.
    pub(super) fn granted_files(&mut self) -> Granted<'_> {
        let (voice, Capabilities { environment, files, .. }) = (&self.voice, &*self.capabilities);
        let wasi = self.wasi.get_or_insert_with(|| Box::new(Wasi::new(voice, environment)));
        Granted { files, table: wasi.table(), limits: &mut self.limits }
    }

    /// Both at once, for host functions that must not have all of this.
    pub(super) fn wasi_and_limits(&mut self) -> (&mut Wasi, &mut Limits) {
        let (voice, environment) = (&self.voice, &self.capabilities.environment);
        (self.wasi.get_or_insert_with(|| Box::new(Wasi::new(voice, environment))), &mut self.limits)
    }
}

/// An empty store, with all limits in force.
pub(super) fn open(
    engine: &Engine,
    voice: &Arc<Voice>,
    capabilities: &Arc<Capabilities>,
    room: Room,
    peak: &Arc<Peak>,
    stack: Stack,
) -> Store<State> {
    let state = State {
        exchange: None,
        limits: Limits::new(room.memory, peak),
        watch: Watch::new(stack, engine.pulses().of_this_thread()),
        voice: Arc::clone(voice),
        capabilities: Arc::clone(capabilities),
        waiting_left: CALLS_WAIT,
        wasi: None,
    };
    let mut store = Store::new(engine.wasmtime(), state);
    store.limiter(|state| &mut state.limits);
    store.set_hostcall_fuel(room.transfer);
    store.epoch_deadline_callback(|mut context| context.data_mut().watch.tick());
    store
}

/// A call begins: all that bounds a call starts anew.
pub(super) fn begin(store: &mut Store<State>, limit: TimeLimit) {
    store.set_epoch_deadline(FIRST_LOOK);
    let state = store.data_mut();
    state.limits.begin();
    state.waiting_left = CALLS_WAIT;
    state.watch.begin(limit);
}

/// The instance belongs to the thread of `pulse` from now on.
pub(super) fn adopt(store: &mut Store<State>, pulse: Arc<Pulse>) -> Arc<Slice> {
    let watch = &mut store.data_mut().watch;
    watch.move_to(pulse);
    watch.slice()
}
