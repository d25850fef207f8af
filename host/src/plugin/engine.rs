//! The Wasmtime configuration, each setting with its reason, and what all plugins of a process share.
//! Starts no thread: whoever runs guests starts the [`Ticker`](super::epoch::Ticker). Must not know any
//! plugin.

mod allocation;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use prometheus_client::registry::Registry;
use wasmtime::component::Linker;
use wasmtime::{Config, Inlining, OptLevel};

use super::artifact::Cache;
use super::capability::{Kept, Surroundings};
use super::epoch::{Pulses, Ticker};
use super::error::EngineError;
use super::linker;
use super::metrics::Metrics;
use super::store::State;

/// Stack of a guest, in bytes.
const GUEST_STACK: usize = 1 << 20;

/// What a host call may use of a fiber's stack below the guest's, in bytes.
const HOST_STACK: usize = 1 << 20;

/// Frames of a guest's backtrace that a log line shows.
const BACKTRACE_FRAMES: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// How the engine is set up.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Worker threads that will call plugins: sizes the tables of the pools, is no limit.
    pub workers: NonZeroUsize,
    /// Where compiled plugins are kept between starts.
    pub cache: Option<PathBuf>,
    pub compiler: Compiler,
}

/// Where plugins are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    /// In a child process of the same executable, which must call
    /// [`compile_child`](super::compile_child) when its first argument is
    /// [`COMPILE_ARGUMENT`](super::COMPILE_ARGUMENT). The compiler's memory goes with the child, a crash of it
    /// is an error message, and it is killed after 30 s.
    Child,
    /// In this process, without a limit of time: for tests and one-shot commands.
    InProcess,
}

/// What all plugins of a process share: the compiled code's rules, the host functions, the cache, the metrics.
/// Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

struct Shared {
    wasmtime: wasmtime::Engine,
    at_once: Linker<State>,
    waiting: Linker<State>,
    workers: NonZeroUsize,
    cache: Option<Cache>,
    compiler: Compiler,
    metrics: Metrics,
    kept: Kept,
    pulses: Arc<Pulses>,
}

impl Engine {
    /// Sets the engine up. Starts no thread.
    ///
    /// # Errors
    /// The machine is not one that Wasmtime compiles for.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let wasmtime = serving()?;
        let unlinked = |error: wasmtime::Error| EngineError::Linker(format!("{error:#}"));
        let at_once = linker::at_once(&wasmtime).map_err(unlinked)?;
        let waiting = linker::waiting(&wasmtime).map_err(unlinked)?;
        Ok(Self(Arc::new(Shared {
            at_once,
            waiting,
            workers: options.workers,
            cache: options.cache.as_deref().and_then(|dir| Cache::open(dir, &wasmtime)),
            compiler: options.compiler,
            metrics: Metrics::default(),
            kept: Kept::default(),
            pulses: Arc::default(),
            wasmtime,
        })))
    }

    /// The clock of the time limits. It must run wherever requests are served: without it, a plugin that
    /// loops is never cut.
    pub fn ticker(&self) -> Ticker {
        Ticker::new(self.0.wasmtime.weak(), Arc::clone(&self.0.pulses))
    }

    /// Adds the metrics of all plugins, those loaded later included, under their whole names: `edgewright_plugin_…`.
    pub fn register(&self, registry: &mut Registry) {
        self.0.metrics.register(registry);
        self.0.kept.register(registry);
    }

    /// Plugins that are loaded from now on, and may call, are surrounded by these.
    pub fn surround(&self, surroundings: Surroundings) {
        self.0.kept.surround(surroundings);
    }

    /// Takes the metrics of a plugin away that no generation has any more.
    pub fn forget(&self, plugin: &Arc<str>) {
        self.0.metrics.forget(plugin);
    }

    pub(super) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    pub(super) fn workers(&self) -> NonZeroUsize {
        self.0.workers
    }

    pub(super) fn cache(&self) -> Option<&Cache> {
        self.0.cache.as_ref()
    }

    pub(super) fn compiler(&self) -> Compiler {
        self.0.compiler
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// What plugins keep beyond a reload.
    pub(super) fn kept(&self) -> &Kept {
        &self.0.kept
    }

    /// The host functions of plugins that are called at once.
    pub(super) fn linker_at_once(&self) -> &Linker<State> {
        &self.0.at_once
    }

    /// The host functions of plugins that are called on a fiber.
    pub(super) fn linker_waiting(&self) -> &Linker<State> {
        &self.0.waiting
    }

    /// Who runs guests, for the ticker.
    pub(super) fn pulses(&self) -> &Arc<Pulses> {
        &self.0.pulses
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("compiler", &self.0.compiler).finish_non_exhaustive()
    }
}

/// The engine that runs guests. Its [slots](allocation) reserve 40 TiB of addresses; a host that limits them
/// (`ulimit -v`) has memories made one by one, and must leave 4.1 GiB per instance.
fn serving() -> Result<wasmtime::Engine, EngineError> {
    let mut settings = settings();
    allocation::pool(&mut settings);
    wasmtime::Engine::new(&settings).or_else(|error| {
        let error = format!("{error:#}");
        tracing::warn!(
            error,
            "too few addresses for slots of instances: each is made for itself, which takes longer"
        );
        bare()
    })
}

/// A Wasmtime engine with the proxy's settings and nothing else: what the compiling child needs.
pub(super) fn bare() -> Result<wasmtime::Engine, EngineError> {
    wasmtime::Engine::new(&settings()).map_err(|error| EngineError::Settings(format!("{error:#}")))
}

/// Every setting that is not the default, and the defaults that were thought about. All of them are part of
/// the name of a cached artefact.
fn settings() -> Config {
    let mut config = Config::new();
    config
        // No component is async or threaded; with this on, each call costs 70 % more.
        .concurrency_support(false)
        // The time limit. Against fuel: 3 % instead of up to 40 % for guests that compute.
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        // Within a module, the guest's own compiler has done it, and frames would be missing from backtraces. With
        // any of it on, the compiler holds all functions at once: a JavaScript runtime of 10 MiB took 4.9 GiB and
        // 28 s, where it takes 0.5 GiB and 9 s.
        .compiler_inlining(Inlining::No)
        .max_wasm_stack(GUEST_STACK)
        .async_stack_size(GUEST_STACK + HOST_STACK)
        // Backtraces name the guest's functions. The map from machine code to offsets in the file would double
        // the size of an artefact for numbers that nobody reads.
        .wasm_backtrace_max_frames(Some(BACKTRACE_FRAMES))
        .generate_address_map(false)
        // A memory reserves 4 GiB and guards of *addresses*, which is what makes bounds checks free; nothing of
        // it is resident.
        .memory_reservation(4 << 30)
        // Data segments are mapped from one copy for all instances: a language runtime's start image of
        // several MiB is not copied into each.
        .memory_init_cow(true);
    config
}
