//! The steps of one reload. Until the swap, nothing that serves requests is touched; behind it, nothing can fail.
//! Knows nothing of who waits for it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::config::Checked;
use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::Config;
use crate::control::health::{Health, State};
use crate::control::watch::Watch;
use crate::snapshot::{Builder, Failure, Generation, RolledBack};
use crate::upstream::metrics::UpstreamMetrics;
use crate::upstream::{Resolver, Upstreams};

use super::draining::{Draining, Names};
use super::log_file::{LogFile, Prepared};
use super::metrics::ReloadMetrics;
use super::report::{Outcome, Report, Trigger};
use super::sockets::{Sockets, Switch};
use super::steady::Files;
use super::{Source, files, restart};

/// Files that never come to rest are given up on after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// New names are waited for this long, so that a new upstream can serve its first request. One that takes longer
/// costs its own upstream some 503s, nobody else anything.
const FIRST_ANSWERS: Duration = Duration::from_secs(1);

/// Mistakes that go to the log one by one; `/status` and the answer have all of them.
const LOGGED: usize = 20;

/// What a reload needs of the process.
pub struct Parts {
    pub source: Source,
    /// What the process was started with.
    pub running: Config,
    pub builder: Builder,
    /// What new requests are served by.
    pub generation: Arc<ArcSwap<Generation>>,
    /// The resolver that runs.
    pub resolver: watch::Sender<Arc<Resolver>>,
    pub upstream_metrics: UpstreamMetrics,
    pub log_file: LogFile,
    pub sockets: Box<dyn Sockets>,
    pub health: Health,
    pub metrics: ReloadMetrics,
}

/// Reloads, and keeps earlier generations until they are done with.
pub(super) struct Reloader {
    parts: Parts,
    draining: Draining,
    /// The files that the last reload read, as they were then.
    seen: Files,
    /// The files of the generation that serves: a configuration with mistakes may not tell its own.
    known: Vec<PathBuf>,
    /// Listens while it is wanted. None where the system has no more of them: then files are looked at now and then.
    watch: Option<Watch>,
    watching: bool,
    /// Where first answers of names are waited for.
    runtime: Runtime,
}

/// Why nothing changed.
struct NotTaken(Outcome, Vec<Diagnostic>);

/// A generation that is ready to serve.
struct Built {
    config: Config,
    generation: Generation,
    upstreams: Arc<Upstreams>,
    log: Prepared,
    listeners: Switch,
    warnings: Vec<Diagnostic>,
}

impl Reloader {
    pub(super) fn new(parts: Parts) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let known = files::of(parts.source.file.as_deref(), &parts.running);
        let watched = parts.running.server.watch;
        let seen = Files::look(known.clone());
        let draining = Draining::default();
        let watch = Watch::new().inspect_err(|error| tracing::warn!(%error, "files can't be watched")).ok();
        let mut reloader = Self { parts, draining, seen, known, watch, watching: false, runtime };
        reloader.watch(watched);
        Ok(reloader)
    }

    /// Takes the configuration as it is now, or says why not.
    pub(super) fn reload(&mut self, trigger: Trigger) -> (Outcome, Vec<Diagnostic>) {
        tracing::info!(trigger = trigger.name(), "reloading");
        match self.built().and_then(|built| self.swap(built)) {
            Ok(warnings) => (Outcome::Applied, warnings),
            Err(NotTaken(outcome, diagnostics)) => (outcome, diagnostics),
        }
    }

    /// Reads and builds until the files were at rest meanwhile.
    fn built(&mut self) -> Result<Built, NotTaken> {
        let until = Instant::now() + PATIENCE;
        loop {
            self.refuse_at_end()?;
            let began = SystemTime::now();
            let read = (self.parts.source.read)();
            let mut paths = self.known.clone();
            if let Ok(checked) = &read {
                paths.extend(files::of(self.parts.source.file.as_deref(), &checked.config));
            }
            let files = Files::look(paths);
            let unrest = files.unrest(began);
            if unrest.is_zero() {
                let built = match read {
                    Ok(checked) => self.build(checked),
                    Err(found) => Err(NotTaken(Outcome::Refused, found)),
                };
                if files.are_the_same() {
                    self.seen = files;
                    return built;
                }
            }
            if Instant::now() >= until {
                let message = "the configuration's files are being written to without end";
                let found = Diagnostic::error(codes::UNREADABLE, message)
                    .with_help("put files in their place by renaming them, and reload then");
                return Err(NotTaken(Outcome::Refused, vec![found]));
            }
            std::thread::sleep(unrest);
        }
    }

    fn build(&mut self, checked: Checked) -> Result<Built, NotTaken> {
        let Checked { config, warnings } = checked;
        let fixed = restart::needed(&self.parts.running, &config);
        if !fixed.is_empty() {
            return Err(NotTaken(Outcome::NeedsRestart, fixed));
        }
        let current = self.parts.generation.load_full();
        let mut upstreams = Upstreams::build(&config);
        upstreams.inherit(&current.upstreams);
        let upstreams = Arc::new(upstreams);
        let generation = self.parts.builder.build(&config, Arc::clone(&upstreams), Some(&current)).map_err(
            |failures| {
                self.forget(&current, Names::of_config(&config));
                NotTaken(Outcome::Refused, failures.iter().map(Failure::diagnostic).collect())
            },
        )?;
        match self.open(&config) {
            Ok((log, listeners)) => Ok(Built { config, generation, upstreams, log, listeners, warnings }),
            Err(found) => {
                drop(generation);
                self.forget(&current, Names::of_config(&config));
                Err(found)
            }
        }
    }

    /// Opens what the configuration writes to and listens on.
    fn open(&mut self, config: &Config) -> Result<(Prepared, Switch), NotTaken> {
        let log =
            self.parts.log_file.prepare(config).map_err(|found| NotTaken(Outcome::Refused, vec![found]))?;
        let addresses: Vec<_> = config.listeners.iter().map(|listener| listener.address).collect();
        let listeners = self.parts.sockets.open(&addresses).map_err(|found| {
            let needs_restart = found.iter().any(|found| found.code == codes::NEEDS_RESTART);
            NotTaken(if needs_restart { Outcome::NeedsRestart } else { Outcome::Refused }, found)
        })?;
        Ok((log, listeners))
    }

    fn swap(&mut self, built: Built) -> Result<Vec<Diagnostic>, NotTaken> {
        let Built { config, mut generation, upstreams, log, listeners, warnings } = built;
        self.refuse_at_end()?;
        self.parts.log_file.switch(log).map_err(|error| {
            tracing::error!(%error, "a thread could not be started");
            NotTaken(Outcome::Failed, Vec::new())
        })?;
        generation.access_log = self.parts.log_file.log();

        let resolver = Arc::new(Resolver::new(&upstreams, &config.dns, self.parts.upstream_metrics.clone()));
        self.parts.resolver.send_replace(Arc::clone(&resolver));
        self.runtime.block_on(resolver.first_round(FIRST_ANSWERS));
        generation.warm();
        self.parts.metrics.serves(generation.number);
        self.parts.builder.show_rollouts(&generation);
        let earlier = self.parts.generation.swap(Arc::new(generation));
        listeners();
        self.draining.add(earlier);
        self.parts.metrics.draining(self.draining.count());
        self.known = files::of(self.parts.source.file.as_deref(), &config);
        self.watch(config.server.watch);
        Ok(warnings)
    }

    /// Begins or ends to watch the files.
    fn watch(&mut self, wanted: bool) {
        self.watching = wanted || self.parts.source.watch;
        let files = self.known.iter().filter(|_| self.watching);
        if let Some(watch) = &mut self.watch {
            watch.follow(files.map(PathBuf::as_path));
        }
    }

    pub(super) fn is_watching(&self) -> bool {
        self.watching
    }

    /// Whether something happened to the files, or beside them.
    pub(super) fn heard_something(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::listen)
    }

    /// Whether the files are not those any more that the last reload read.
    pub(super) fn files_changed(&self) -> bool {
        !self.seen.are_the_same()
    }

    fn refuse_at_end(&self) -> Result<(), NotTaken> {
        match self.parts.health.state() {
            State::Draining => Err(NotTaken(Outcome::ShuttingDown, Vec::new())),
            State::Starting | State::Ready => Ok(()),
        }
    }

    /// Opens log files anew.
    pub(super) fn reopen_logs(&self) {
        self.parts.log_file.reopen();
    }

    /// The number of the generation that serves new requests.
    pub(super) fn serving(&self) -> u64 {
        self.parts.generation.load().number
    }

    /// Whether earlier generations still serve.
    pub(super) fn is_draining(&self) -> bool {
        self.draining.count() > 0
    }

    /// Whether some plugin is rolled out.
    pub(super) fn is_rolling_out(&self) -> bool {
        self.parts.generation.load().routes.iter().any(|route| route.rollout.is_some())
    }

    /// Stops the rollouts whose new plugin fails too often.
    pub(super) fn judge_rollouts(&self) {
        let current = self.parts.generation.load();
        let mut stopped = false;
        for (route, rollout) in
            current.routes.iter().filter_map(|route| Some((route, route.rollout.as_ref()?)))
        {
            let Some(RolledBack { calls, failures }) = rollout.state.judge() else { continue };
            stopped = true;
            let (plugin, candidate) = (rollout.state.plugin(), rollout.state.candidate().name());
            self.parts.metrics.rolled_back();
            tracing::error!(
                route = &*route.name,
                %plugin,
                candidate,
                calls,
                failures,
                "rollout is taken back: the new plugin fails too often"
            );
        }
        if stopped {
            self.parts.builder.show_rollouts(&current);
        }
    }

    /// Takes down what no request uses any more.
    pub(super) fn sweep(&mut self) {
        if !self.is_draining() {
            return;
        }
        let current = self.parts.generation.load_full();
        let names = self.draining.sweep();
        self.forget(&current, names);
        self.parts.metrics.draining(self.draining.count());
    }

    /// Takes the metrics away of those of these names that are in no generation.
    fn forget(&self, current: &Generation, mut names: Names) {
        names.keep_unused(self.draining.iter().chain([current]));
        self.parts.builder.forget(names.plugins(), names.routes());
    }

    /// Tells the log and the metrics what became of a reload.
    pub(super) fn tell(&self, report: &Report) {
        self.parts.metrics.count(report.outcome);
        let (outcome, generation) = (report.outcome.name(), report.generation);
        let took_ms = u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX);
        for found in report.diagnostics.iter().take(LOGGED) {
            if found.is_error() {
                tracing::error!("{found}");
            } else {
                tracing::warn!("{found}");
            }
        }
        if report.outcome == Outcome::Applied {
            tracing::info!(generation, took_ms, "reloaded");
        } else {
            let mistakes = report.diagnostics.len();
            tracing::error!(
                outcome,
                generation,
                took_ms,
                mistakes,
                "not reloaded: the last good generation goes on"
            );
        }
    }
}
