//! Puts it all together and runs it: generation, listeners, background services, shutdown.

mod accept;
mod announce;
mod background;
mod descriptors;
mod doors;
mod listeners;
mod shutdown;
mod signals;
mod workers;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use pingora::apps::HttpServerOptions;
use pingora::prelude::Server;
use pingora::proxy::HttpProxy;
use pingora::server::RunArgs;
use pingora::server::configuration::ServerConf;
use pingora::services::background::background_service;
use tokio::sync::{Notify, watch};

use crate::config::model::Config;
use crate::control::admin::{Admin, Facts};
use crate::control::health::Health;
use crate::control::reload::{self, LogFile, ReloadMetrics, Source};
use crate::observe::access_log::{self, OpenFailed};
use crate::observe::{logging, registry};
use crate::plugin::{Compiler, Engine, EngineError, EngineOptions};
use crate::proxy::{Connections, Edge, EdgeProxy, Requests, log_refused};
use crate::snapshot::{Builder, Failure, Generation};
use crate::upstream::metrics::UpstreamMetrics;
use crate::upstream::{Resolver, Upstreams};

use accept::Reception;
use doors::{Accepting, Doors};
use workers::Threads;

pub use listeners::CannotListen;
pub use workers::Workers;

/// Attempts of one request at most. Each peer is tried once, so a name with many dead addresses still finds the
/// live one; Pingora's default is 16.
const ATTEMPTS: usize = 1024;

/// Why the proxy did not start.
#[derive(Debug, thiserror::Error)]
pub enum CannotStart {
    #[error("{} plugin mistake(s)", .0.len())]
    Plugins(Vec<Failure>),
    #[error("{} listener(s) can't be opened", .0.len())]
    Listeners(Vec<CannotListen>),
    #[error(transparent)]
    AccessLog(#[from] OpenFailed),
    #[error("the plugin engine does not start: {0}")]
    Engine(#[from] EngineError),
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// Runs a configuration until a signal ends it; the process then exits with 0. What `source` reads later takes its
/// place when a reload is asked for.
///
/// # Errors
/// Something of the configuration does not work on this machine, or a plugin can't be loaded.
pub fn run(config: &Config, source: Source) -> Result<(), CannotStart> {
    let started = Instant::now();
    let serving: Arc<OnceLock<Arc<ArcSwap<Generation>>>> = Arc::default();
    let ear = Arc::clone(&serving);
    logging::init(move |refusal| {
        if let Some(generation) = ear.get() {
            log_refused(&generation.load(), refusal);
        }
    })
    .map_err(CannotStart::Thread)?;
    let mut registry = registry::registry();
    let descriptors = descriptors::raise();
    let workers = Workers::decide(config.server.threads);
    let public: Vec<SocketAddr> = config.listeners.iter().map(|listener| listener.address).collect();
    let admin = config.admin.as_ref().map(|admin| admin.address);
    // Clients are refused until all is ready; who starts it hears at once what is in the way.
    let addresses = || public.iter().copied().chain(admin);
    drop(listeners::open(addresses()).map_err(CannotStart::Listeners)?);

    let engine = Engine::new(&EngineOptions {
        workers: workers.count,
        cache: config.plugin_cache.clone(),
        compiler: Compiler::Child,
    })?;
    let ticker = engine.ticker();
    let upstream_metrics = UpstreamMetrics::register(&mut registry);
    let upstreams = Arc::new(Upstreams::build(config));
    let resolver = Arc::new(Resolver::new(&upstreams, &config.dns, upstream_metrics.clone()));
    let mut builder = Builder::new(engine, &mut registry);
    let mut generation = builder.build(config, upstreams, None).map_err(CannotStart::Plugins)?;

    let log_file = LogFile::start(config, access_log::register(&mut registry))?;
    generation.access_log = log_file.log();
    let reload_metrics = ReloadMetrics::register(&mut registry);
    reload_metrics.serves(generation.number);
    builder.show_rollouts(&generation);
    let _ticking = ticker.start().map_err(CannotStart::Thread)?;

    generation.warm();
    let mut listeners = listeners::open(addresses()).map_err(CannotStart::Listeners)?;
    let admin = listeners.split_off(public.len()).pop();
    let budget = descriptors::budget(descriptors, workers.count.get());
    let room = announce::Room { descriptors, clients: budget.served };
    announce::lines(config, &generation, &workers, room, started);
    let generation = Arc::new(ArcSwap::from_pointee(generation));
    let _ = serving.set(Arc::clone(&generation));
    let health = Health::default();
    let resolver = watch::Sender::new(resolver);
    let resolving = background::Resolving(resolver.subscribe());
    let requests = Requests::register(&mut registry);
    let connections = Connections::register(budget, &mut registry);
    let [taking, heard, reload_heard] = <[Arc<AtomicBool>; 3]>::default();
    let again = Arc::new(Notify::new());

    let threads = Threads::start(workers.count).map_err(CannotStart::Thread)?;
    let mut server = Server::new_with_opt_and_conf(None, pingora_conf(config, &workers, descriptors));
    server.bootstrap();
    let edge = EdgeProxy { generation: Arc::clone(&generation), in_flight: requests.clone() };
    let edge = edge_of(&server, edge, connections.clone());
    let reception = Reception { crew: threads.crew(), edge, delay: config.server.drain_delay };
    let doors = Arc::new(Doors::new(reception, public.into_iter().zip(listeners)));
    let reloads = reload::start(reload::Parts {
        source,
        running: config.clone(),
        builder,
        generation: Arc::clone(&generation),
        resolver,
        upstream_metrics,
        log_file,
        sockets: Box::new(Arc::clone(&doors)),
        health: health.clone(),
        metrics: reload_metrics,
    })
    .map_err(CannotStart::Thread)?;
    let resolving = server.add_service(background_service("resolver", resolving));
    let accepting = Accepting { doors, taking: Arc::clone(&taking) };
    let public_service = server.add_service(accepting);
    public_service.add_dependency(&resolving);
    server.add_service(background_service(
        "readiness",
        background::Readiness {
            begun: [taking, Arc::clone(&heard), Arc::clone(&reload_heard)],
            health: health.clone(),
        },
    ));
    server.add_service(background_service(
        "signals",
        signals::Listening { reloads: reloads.clone(), heard: reload_heard },
    ));
    if let Some(listener) = admin {
        let facts = Facts {
            version: env!("CARGO_PKG_VERSION"),
            started,
            workers: workers.count.get(),
            workers_reason: workers.reason.clone(),
        };
        let generation = Arc::clone(&generation);
        let admin =
            Admin { registry: Arc::new(registry), health: health.clone(), generation, reloads, facts };
        server.add_service(background_service("admin", background::AdminListener::new(listener, admin)));
    }
    server.add_service(background_service(
        "drain",
        shutdown::Drain {
            grace: config.server.grace,
            again: Arc::clone(&again),
            requests: requests.clone(),
            connections,
            generation: Arc::clone(&generation),
            health: health.clone(),
        },
    ));
    let cut = requests.clone();
    server.run(RunArgs {
        shutdown_signal: Box::new(shutdown::Signals {
            requests,
            health,
            delay: config.server.drain_delay,
            again,
            heard,
        }),
    });
    threads.end();
    shutdown::tell_cut(&cut);
    shutdown::flush(&generation);
    Ok(())
}

/// What serves the connections of all public listeners.
fn edge_of(server: &Server, edge: EdgeProxy, connections: Connections) -> Arc<Edge> {
    let generation = Arc::clone(&edge.generation);
    let mut proxy = HttpProxy::new(edge, Arc::clone(&server.configuration));
    // Refused by `proxy/admission` like everything else, with a line in the log.
    let mut options = HttpServerOptions::default();
    options.allow_connect_method_proxying = true;
    proxy.server_options = Some(options);
    proxy.handle_init_modules();
    Arc::new(Edge::new(proxy, generation, connections))
}

fn pingora_conf(config: &Config, workers: &Workers, descriptors: Option<u64>) -> ServerConf {
    ServerConf {
        // Only multiplies the size of the pool: connections are served by threads of our own.
        threads: workers.count.get(),
        work_stealing: false,
        upstream_keepalive_pool_size: descriptors::kept_connections(descriptors, workers.count.get()),
        max_retries: ATTEMPTS,
        // `shutdown::Drain` ends the process before, where nothing is in flight. In whole seconds.
        grace_period_seconds: Some(config.server.grace.as_millis().div_ceil(1000) as u64),
        graceful_shutdown_timeout_seconds: Some(0),
        ..ServerConf::default()
    }
}
