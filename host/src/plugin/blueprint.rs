//! What instances of one plugin are made from: the compiled component with its imports filled in, and where
//! its exports are. Must not know pools.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use super::capability::Capabilities;
use super::contract::Survey;
use super::engine::Engine;
use super::error::LoadReason;
use super::failure::Ended;
use super::fiber;
use super::instance::{Functions, Instance};
use super::limits::time::{Stack, TimeLimit};
use super::limits::{Peak, Room};
use super::pool::Seat;
use super::store::{self, State};
use super::voice::Voice;
use crate::phase::Phase;

/// What instances are made from.
pub(super) struct Blueprint {
    engine: Engine,
    component: InstancePre<State>,
    exports: Exports,
    stack: Stack,
    room: Room,
    peak: Arc<Peak>,
    voice: Arc<Voice>,
    capabilities: Arc<Capabilities>,
}

/// Where the functions of the contract are in a component.
#[derive(Default)]
pub(super) struct Exports {
    pub(super) configure: Option<ComponentExportIndex>,
    pub(super) request: Option<ComponentExportIndex>,
    pub(super) upstream_request: Option<ComponentExportIndex>,
    pub(super) request_body: Option<ComponentExportIndex>,
    pub(super) response: Option<ComponentExportIndex>,
    pub(super) response_body: Option<ComponentExportIndex>,
    pub(super) error: Option<ComponentExportIndex>,
    pub(super) log: Option<ComponentExportIndex>,
}

impl Blueprint {
    /// Fills the imports in and looks the exports up.
    pub(super) fn new(
        engine: &Engine,
        component: &Component,
        survey: &Survey,
        stack: Stack,
        room: Room,
        voice: &Arc<Voice>,
        capabilities: Capabilities,
    ) -> Result<Self, LoadReason> {
        let linker = match stack {
            Stack::Worker => engine.linker_at_once(),
            Stack::Fiber if survey.waits() => engine.linker_waiting(),
            Stack::Fiber => engine.linker_at_once(),
        };
        let linked = linker.instantiate_pre(component);
        Ok(Self {
            engine: engine.clone(),
            component: linked.map_err(|error| LoadReason::Mismatch(format!("{error:#}")))?,
            exports: Exports::of(component, survey)?,
            stack,
            room,
            peak: Arc::default(),
            voice: Arc::clone(voice),
            capabilities: Arc::new(capabilities),
        })
    }

    /// Makes an instance, which runs what the guest does at its start. Waits only on a fiber.
    pub(super) async fn build(&self, seat: Option<Seat>) -> Result<Box<Instance>, Ended> {
        let mut store =
            store::open(&self.engine, &self.voice, &self.capabilities, self.room, &self.peak, self.stack);
        store::begin(&mut store, TimeLimit::SETUP);
        let made = match self.stack {
            Stack::Worker => {
                let slice = store.data().watch.slice();
                let _running = slice.running();
                catch_unwind(AssertUnwindSafe(|| self.component.instantiate(&mut store)))
                    .map_err(Ended::panicked)?
                    .map_err(Ended::Guest)?
            }
            Stack::Fiber => {
                let slice = store.data().watch.slice();
                fiber::run(slice, TimeLimit::SETUP.wall(), self.component.instantiate_async(&mut store))
                    .await?
            }
        };
        let functions = Functions::of(&mut store, &made, &self.exports).map_err(Ended::Mismatch)?;
        Ok(Box::new(Instance::new(store, functions, self.stack, seat)))
    }

    pub(super) fn component(&self) -> &Component {
        self.component.component()
    }

    pub(super) fn takes_configuration(&self) -> bool {
        self.exports.configure.is_some()
    }

    pub(super) fn stack(&self) -> Stack {
        self.stack
    }

    /// The most memory that an instance had, in bytes.
    pub(super) fn peak(&self) -> usize {
        self.peak.bytes()
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn voice(&self) -> &Voice {
        &self.voice
    }
}

impl Exports {
    fn of(component: &Component, survey: &Survey) -> Result<Self, LoadReason> {
        let find = |interface: Option<&str>, function: &str| -> Result<_, LoadReason> {
            let Some(name) = interface else { return Ok(None) };
            let found = component
                .get_export_index(None, name)
                .and_then(|interface| component.get_export_index(Some(&interface), function));
            let missing = || LoadReason::Mismatch(format!("`{name}` has no function `{function}`"));
            found.map(Some).ok_or_else(missing)
        };
        let phase = |phase: Phase| find(survey.export(phase.name()), phase.function());
        Ok(Self {
            configure: find(survey.lifecycle(), "configure")?,
            request: phase(Phase::Request)?,
            upstream_request: phase(Phase::UpstreamRequest)?,
            request_body: phase(Phase::RequestBody)?,
            response: phase(Phase::Response)?,
            response_body: phase(Phase::ResponseBody)?,
            error: phase(Phase::Error)?,
            log: phase(Phase::Log)?,
        })
    }
}
