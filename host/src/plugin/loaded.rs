//! A plugin that is loaded: checked, compiled, and ready to be called by any worker. Must not know chains and
//! routes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::artifact::{self, Compiled, Source};
use super::blueprint::Blueprint;
use super::body::Bodies;
use super::configuration::{ConfigId, Configurations};
use super::contract::{Import, Survey};
use super::engine::Engine;
use super::error::{ConfigureError, LoadError, LoadReason};
use super::exchange::Failure;
use super::failure::{Ended, FailedCall};
use super::instance::Instance;
use super::limits::time::{SETUP, Stack, TimeLimit};
use super::limits::{Room, Stopped};
use super::metrics::PluginMetrics;
use super::pool::Pool;
use super::probe;
use super::quarantine::Quarantine;
use super::setup::{self, From, Unready};
use super::voice::Voice;
use crate::config::model::{self, Body, Grants, Isolation, Limits, OnFailure};
use crate::phase::Phase;

/// A plugin with a larger time limit runs on a fiber, so that it does not hold its worker.
const AT_ONCE: Duration = Duration::from_millis(10);

/// Configurations of an earlier generation that instances may still know. Each instance keeps what it made of
/// them, so that there must be a bound; below it, a change of a configuration costs no instance.
const STALE_CONFIGURATIONS: usize = 8;

/// What is to be loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginSpec {
    pub name: Arc<str>,
    pub file: PathBuf,
    pub isolation: Isolation,
    pub on_failure: OnFailure,
    pub limits: Limits,
    pub quarantine: model::Quarantine,
    /// What it may import beyond its own request.
    pub grants: Grants,
    pub body: Body,
    /// The SHA-256 that the file must have, in hex.
    pub sha256: Option<String>,
}

/// A loaded plugin. One for all routes that use it.
pub struct Plugin {
    name: Arc<str>,
    /// As it was loaded.
    spec: PluginSpec,
    hash: String,
    size: usize,
    compile_time: Duration,
    cached: bool,
    survey: Survey,
    isolation: Isolation,
    on_failure: OnFailure,
    time_limit: TimeLimit,
    bodies: Bodies,
    blueprint: Blueprint,
    pool: Pool,
    configurations: Configurations,
    metrics: PluginMetrics,
    /// By phase, in the order of [`Phase::ALL`].
    quarantines: [Quarantine; Phase::ALL.len()],
}

impl Plugin {
    /// Reads, checks and compiles a plugin, and makes one instance to see that it can be made. Blocks: for as
    /// long as the compiler takes, where the cache has nothing.
    ///
    /// # Errors
    /// The file can't be a plugin, or not with these limits.
    pub fn load(engine: &Engine, spec: &PluginSpec) -> Result<Arc<Self>, LoadError> {
        let loaded = artifact::read(&spec.file, spec.sha256.as_deref()).and_then(|source| {
            let survey = checked(&source, spec)?;
            let compiled = artifact::compile(engine, &source)?;
            Self::put_together(engine, spec, source, survey, compiled)
        });
        loaded.map_err(|reason| unloaded(spec, reason))
    }

    /// As [`load`](Self::load), of a plugin that is loaded. Where its file and what is said of it are the same,
    /// it is the same plugin, with its instances, unless too many of its configurations are not `wanted` any
    /// more; where the file is the same, the code is.
    ///
    /// # Errors
    /// As those of [`load`](Self::load).
    pub fn load_anew(
        self: &Arc<Self>,
        engine: &Engine,
        spec: &PluginSpec,
        wanted: &[&Map<String, Value>],
    ) -> Result<Arc<Self>, LoadError> {
        let failed = |reason| unloaded(spec, reason);
        let source = artifact::read(&spec.file, spec.sha256.as_deref()).map_err(failed)?;
        if source.hash != self.hash {
            return Self::load(engine, spec);
        }
        if self.spec == *spec && self.configurations.stale_beside(wanted) <= STALE_CONFIGURATIONS {
            return Ok(Arc::clone(self));
        }
        let compiled =
            Compiled { component: self.blueprint.component().clone(), took: Duration::ZERO, cached: true };
        let survey = checked(&source, spec).map_err(failed)?;
        Self::put_together(engine, spec, source, survey, compiled).map_err(failed)
    }

    fn put_together(
        engine: &Engine,
        spec: &PluginSpec,
        source: Source,
        survey: Survey,
        compiled: Compiled,
    ) -> Result<Arc<Self>, LoadReason> {
        let voice = Arc::new(Voice::new(Arc::clone(&spec.name)));
        may_be_called(&survey, spec.limits.time)?;
        let bodies = Bodies::of(&survey.phases(), spec.body)?;
        let at_once = !survey.waits() && spec.limits.time <= AT_ONCE;
        let stack = if at_once { Stack::Worker } else { Stack::Fiber };
        let room = Room { memory: spec.limits.memory, transfer: bodies.transfer() };
        let capabilities = engine.kept().grant(&spec.name, &spec.grants)?;
        let blueprint =
            Blueprint::new(engine, &compiled.component, &survey, stack, room, &voice, capabilities)?;
        try_out(engine, &blueprint, spec)?;
        let Source { bytes, hash } = source;
        let metrics = engine.metrics().of(&spec.name, &survey.phases());
        let quarantines = Phase::ALL.map(|phase| {
            Quarantine::new(&spec.name, phase, spec.quarantine, metrics.phase(phase).quarantines.clone())
        });
        let plugin = Arc::new(Self {
            name: Arc::clone(&spec.name),
            spec: spec.clone(),
            hash,
            size: bytes.len(),
            compile_time: compiled.took,
            cached: compiled.cached,
            survey,
            isolation: spec.isolation,
            on_failure: spec.on_failure,
            time_limit: TimeLimit::of_call(spec.limits.time),
            bodies,
            blueprint,
            pool: Pool::new(engine, spec.isolation, spec.limits, metrics.pool.clone()),
            configurations: Configurations::default(),
            metrics,
            quarantines,
        });
        engine.metrics().show(&plugin);
        Ok(plugin)
    }

    /// Takes a configuration: an instance that is thrown away is told it, in the time that any instance has.
    /// Blocks.
    ///
    /// # Errors
    /// The plugin refuses it, takes none, or does not come to an end.
    pub fn configure(&self, object: &Map<String, Value>) -> Result<ConfigId, ConfigureError> {
        if let Some(known) = self.configurations.find(object) {
            return Ok(known);
        }
        let json = Value::Object(object.clone()).to_string();
        if self.blueprint.takes_configuration() {
            self.try_configuration(&json)?;
        } else if !object.is_empty() {
            return Err(ConfigureError::TakesNone { plugin: Arc::clone(&self.name) });
        }
        Ok(self.configurations.add(object.clone(), json))
    }

    fn try_configuration(&self, json: &str) -> Result<(), ConfigureError> {
        let plugin = || Arc::clone(&self.name);
        let failed = |failure: String| ConfigureError::Failed { plugin: plugin(), failure };
        let told = probe::run(self.blueprint.engine(), async {
            let mut instance =
                self.blueprint.build(None).await.map_err(|ended| failed(ended.detail().into()))?;
            let Some(configure) = instance.functions().configure else { return Ok(Ok(())) };
            let params = (self.configurations.next().number(), json.to_owned());
            let told = instance.call(configure, params, TimeLimit::SETUP).await;
            told.map(|(answer,)| answer).map_err(|ended| self.not_configured(&instance, &ended))
        });
        match told {
            Err(error) => Err(failed(error.to_string())),
            Ok(Err(error)) => Err(error),
            Ok(Ok(Err(message))) => Err(ConfigureError::Refused { plugin: plugin(), message }),
            Ok(Ok(Ok(()))) => Ok(()),
        }
    }

    fn not_configured(&self, instance: &Instance, ended: &Ended) -> ConfigureError {
        let plugin = Arc::clone(&self.name);
        if ended.stopped() == Some(Stopped::SetupTime) {
            return ConfigureError::TimedOut { plugin, limit: SETUP };
        }
        let failure = format!("{}: {}", instance.failure(ended).name(), ended.detail());
        ConfigureError::Failed { plugin, failure }
    }

    /// Makes unused instances for later calls that carry `config`, and takes used ones down: for plugins whose
    /// instances never serve two requests. Off the path of a request.
    pub async fn refill(&self, config: ConfigId) {
        while let Some(seat) = self.pool.tidy_up() {
            match setup::ready(self, From::Nothing(seat), config).await {
                Ok(instance) => self.pool.stock(instance),
                Err(Unready::Paused) => return,
                Err(failed) => return self.not_made_ahead(&failed),
            }
        }
    }

    pub(super) fn not_made_ahead(&self, failed: &Unready) {
        let failure = Failure::Instantiate;
        self.metrics.failed(failure);
        let voice = self.blueprint.voice();
        let call = FailedCall { voice, plugin: &self.name, phase: None, request: "-", failure };
        call.log(failed.detail(), failed.backtrace());
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the file, in lower-case hex.
    pub fn version(&self) -> &str {
        &self.hash
    }

    /// Of the file, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What compiling took, or loading from the cache.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Whether the machine code came from the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// Whether it runs on a fiber: it imports what may wait, or may take more than 10 ms.
    pub fn waits(&self) -> bool {
        self.blueprint.stack() == Stack::Fiber
    }

    /// The phases it exports, in the order of the path.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    pub fn phases(&self) -> Vec<Phase> {
        self.survey.phases()
    }

    pub fn imports(&self) -> &[Import] {
        &self.survey.imports
    }

    pub(super) fn has(&self, phase: Phase) -> bool {
        self.survey.export(phase.name()).is_some() && self.bodies.call(phase)
    }

    /// Whether it can ask for the response at all.
    pub(super) fn knows_response(&self) -> bool {
        self.survey.imports("response")
    }

    pub(super) fn bodies(&self) -> Bodies {
        self.bodies
    }

    pub fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Calls of all phases since its metrics were made, and those that failed.
    pub fn calls_and_failures(&self) -> (u64, u64) {
        self.metrics.calls_and_failures()
    }

    pub(super) fn is_fresh(&self) -> bool {
        self.isolation == Isolation::Fresh
    }

    pub fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    pub(super) fn time_limit(&self) -> TimeLimit {
        self.time_limit
    }

    pub(super) fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(super) fn configurations(&self) -> &Configurations {
        &self.configurations
    }

    pub(super) fn metrics(&self) -> &PluginMetrics {
        &self.metrics
    }

    pub(super) fn quarantine(&self, phase: Phase) -> &Quarantine {
        // There is one for each phase.
        self.quarantines.get(phase.index()).unwrap_or(&self.quarantines[0])
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name)
            .field("version", &self.hash)
            .finish_non_exhaustive()
    }
}

/// A phase whose hook can't wait needs a plugin that doesn't.
fn may_be_called(survey: &Survey, time: Duration) -> Result<(), LoadReason> {
    match survey.phases().into_iter().find(|phase| phase.is_immediate()) {
        Some(phase) if survey.waits() => Err(LoadReason::WaitsInPhase { phase }),
        Some(phase) if time > AT_ONCE => Err(LoadReason::TooSlowForPhase { phase, limit: AT_ONCE }),
        _ => Ok(()),
    }
}

fn unloaded(spec: &PluginSpec, reason: LoadReason) -> LoadError {
    LoadError { plugin: Arc::clone(&spec.name), file: spec.file.clone(), reason }
}

fn checked(source: &Source, spec: &PluginSpec) -> Result<Survey, LoadReason> {
    let survey = Survey::of(&source.bytes)?;
    survey.check(&spec.grants)?;
    Ok(survey)
}

/// Makes one instance: what is wrong with the types of the exports, or with the start of the guest, is an
/// error now and not at the first request.
fn try_out(engine: &Engine, blueprint: &Blueprint, spec: &PluginSpec) -> Result<(), LoadReason> {
    let made = probe::run(engine, async { blueprint.build(None).await });
    let instance =
        made.map_err(|error| LoadReason::Instantiate(error.to_string()))?.map_err(|ended| match ended {
            Ended::Mismatch(error) => LoadReason::Mismatch(format!("{error:#}")),
            ended if ended.stopped() == Some(Stopped::SetupTime) => LoadReason::SlowStart { limit: SETUP },
            ended => LoadReason::Instantiate(ended.detail().into()),
        })?;
    if spec.isolation == Isolation::Reuse && instance.memory() > spec.limits.kept_memory {
        tracing::warn!(
            plugin = &*spec.name,
            "plugin starts with more than `limits.kept-memory`: its instances are replaced after each call"
        );
    }
    Ok(())
}
