//! Puts it all together and runs it: generation, listeners, background services, shutdown.

mod announce;
mod background;
mod listeners;
mod shutdown;
mod workers;

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use pingora::prelude::Server;
use pingora::proxy::HttpProxy;
use pingora::server::RunArgs;
use pingora::server::configuration::ServerConf;
use pingora::services::background::background_service;
use pingora::services::listening::Service;

use crate::config::model::{Config, LogSink};
use crate::control::admin::{Admin, Facts};
use crate::control::health::Health;
use crate::observe::access_log::{AccessLog, OpenFailed, Sink};
use crate::observe::{logging, registry};
use crate::plugin::{Compiler, Engine, EngineError, EngineOptions};
use crate::proxy::{Edge, EdgeProxy, Requests, log_refused};
use crate::snapshot::{Builder, Failure};
use crate::upstream::metrics::UpstreamMetrics;
use crate::upstream::{Resolver, Upstreams};

pub use listeners::CannotListen;
pub use workers::Workers;

/// Idle connections to upstreams that are kept, over all of them.
const KEPT_CONNECTIONS: usize = 512;

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

/// Runs a configuration until a signal ends it; the process then exits with 0.
///
/// # Errors
/// Something of the configuration does not work on this machine, or a plugin can't be loaded.
pub fn run(config: &Config) -> Result<(), CannotStart> {
    let started = Instant::now();
    let refused: Arc<OnceLock<AccessLog>> = Arc::default();
    let ear = Arc::clone(&refused);
    logging::init(move |reason| {
        if let Some(log) = ear.get() {
            log_refused(log, reason);
        }
    })
    .map_err(CannotStart::Thread)?;
    let mut registry = registry::registry();
    let workers = Workers::decide(config.server.threads);
    let public: Vec<SocketAddr> = config.listeners.iter().map(|listener| listener.address).collect();
    let admin = config.admin.as_ref().map(|admin| admin.address);
    listeners::probe(public.iter().copied().chain(admin)).map_err(CannotStart::Listeners)?;

    let engine = Engine::new(&EngineOptions {
        workers: workers.count,
        cache: config.plugin_cache.clone(),
        compiler: Compiler::Child,
    })?;
    let ticker = engine.ticker();
    let upstream_metrics = UpstreamMetrics::register(&mut registry);
    let upstreams = Arc::new(Upstreams::build(config));
    let resolver = Resolver::new(&upstreams, &config.dns, upstream_metrics);
    let mut builder = Builder::new(engine, &mut registry);
    let generation = builder.build(config, upstreams).map_err(CannotStart::Plugins)?;

    let access_log = config.access_log.as_ref().map(|log| AccessLog::start(&sink(&log.sink))).transpose()?;
    if let Some(log) = &access_log {
        log.register(&mut registry);
        let _ = refused.set(log.clone());
    }
    let _ticking = ticker.start().map_err(CannotStart::Thread)?;

    announce::lines(config, &generation, &workers, started);
    let generation = Arc::new(ArcSwap::from_pointee(generation));
    let health = Health::default();
    let requests = Requests::default();
    let heard = Arc::new(AtomicBool::new(false));

    let mut server = Server::new_with_opt_and_conf(None, pingora_conf(config, &workers));
    server.bootstrap();
    let resolving =
        server.add_service(background_service("resolver", background::Resolving(Arc::new(resolver))));
    let edge = EdgeProxy {
        generation: Arc::clone(&generation),
        access_log: access_log.clone(),
        in_flight: requests.clone(),
    };
    let public_service = server.add_service(public_service(config, &server, edge));
    public_service.add_dependency(&resolving);
    server.add_service(background_service(
        "readiness",
        background::Readiness {
            listeners: public.clone(),
            signals_heard: Arc::clone(&heard),
            health: health.clone(),
        },
    ));
    if let Some(address) = admin {
        let facts = Facts {
            version: env!("CARGO_PKG_VERSION"),
            started,
            workers: workers.count.get(),
            workers_reason: workers.reason.clone(),
            listeners: public.iter().map(ToString::to_string).collect(),
        };
        let admin = Admin { registry: Arc::new(registry), health: health.clone(), generation, facts };
        server.add_service(background_service("admin", background::AdminListener::new(address, admin)));
    }
    server.add_service(background_service(
        "drain",
        shutdown::Drain {
            grace: config.server.grace,
            requests: requests.clone(),
            access_log: access_log.clone(),
            health: health.clone(),
        },
    ));
    server.run(RunArgs {
        shutdown_signal: Box::new(shutdown::Signals {
            requests,
            health,
            delay: config.server.drain_delay,
            heard,
        }),
    });
    shutdown::flush(access_log.as_ref());
    Ok(())
}

/// One service for all public listeners: each service of Pingora has threads of its own.
fn public_service(config: &Config, server: &Server, edge: EdgeProxy) -> Service<Edge> {
    let (generation, access_log) = (Arc::clone(&edge.generation), edge.access_log.clone());
    let mut proxy = HttpProxy::new(edge, Arc::clone(&server.configuration));
    proxy.handle_init_modules();
    let mut service = Service::new("edge".to_owned(), Edge::new(proxy, generation, access_log));
    for listener in &config.listeners {
        service.add_tcp(&listener.address.to_string());
    }
    service
}

fn pingora_conf(config: &Config, workers: &Workers) -> ServerConf {
    ServerConf {
        threads: workers.count.get(),
        // A connection stays on its worker, and so do the plugin instances it uses.
        work_stealing: false,
        upstream_keepalive_pool_size: KEPT_CONNECTIONS,
        max_retries: ATTEMPTS,
        // `shutdown::Drain` ends the process before, where nothing is in flight. In whole seconds.
        grace_period_seconds: Some(config.server.grace.as_millis().div_ceil(1000) as u64),
        graceful_shutdown_timeout_seconds: Some(0),
        ..ServerConf::default()
    }
}

fn sink(sink: &LogSink) -> Sink {
    match sink {
        LogSink::Stdout => Sink::Stdout,
        LogSink::Stderr => Sink::Stderr,
        LogSink::File(path) => Sink::File(path.clone()),
    }
}
