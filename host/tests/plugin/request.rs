//! A request in memory, and what a test sets up around a plugin.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgewright::config::model::{Body, Grants, Isolation, Limits, OnFailure, Quarantine};
use edgewright::ids::UpstreamId;
use edgewright::phase::Phase;
use edgewright::plugin::exchange::{
    Attributes, Exchange, Facts, HeadSizes, Heads, HttpCalls, PassedOver, UpstreamNames,
};
use edgewright::plugin::{
    Chain, Compiler, Engine, EngineOptions, Lent, LoadError, Plugin, PluginSpec, Ticking,
};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use tempfile::TempDir;

/// An engine with its ticker, and a directory for components.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    dir: TempDir,
    _ticking: Ticking,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_workers(2)
    }

    pub(crate) fn with_cache(cache: Option<PathBuf>) -> Self {
        Self::with(2, cache)
    }

    /// As if there were so many worker threads.
    pub(crate) fn with_workers(workers: usize) -> Self {
        Self::with(workers, None)
    }

    fn with(workers: usize, cache: Option<PathBuf>) -> Self {
        let workers = NonZeroUsize::new(workers).expect("some");
        let options = EngineOptions { workers, cache, compiler: Compiler::InProcess };
        let engine = Engine::new(&options).expect("an engine");
        let ticking = engine.ticker().start().expect("a thread");
        Self { engine, dir: TempDir::new().expect("a directory"), _ticking: ticking }
    }

    /// A file with these bytes, as a plugin that reuses instances and fails closed.
    pub(crate) fn spec(&self, bytes: &[u8]) -> PluginSpec {
        let file = self.dir.path().join("guest.wasm");
        std::fs::write(&file, bytes).expect("a file");
        PluginSpec {
            name: "guest".into(),
            file,
            isolation: Isolation::Reuse,
            on_failure: OnFailure::Closed,
            limits: Limits {
                time: Duration::from_millis(10),
                memory: 1 << 20,
                instances: 4,
                queue: Duration::ZERO,
                calls: 100_000,
                kept_memory: 768 << 10,
            },
            quarantine: Quarantine {
                failures: None,
                window: Duration::from_secs(10),
                pause: Duration::from_secs(1),
                longest_pause: Duration::from_secs(60),
            },
            grants: Grants::default(),
            body: Body::default(),
            sha256: None,
        }
    }

    pub(crate) fn load(&self, spec: &PluginSpec) -> Result<Arc<Plugin>, LoadError> {
        Plugin::load(&self.engine, spec)
    }

    /// A chain of one plugin without configuration.
    pub(crate) fn chain(&self, spec: &PluginSpec) -> Chain {
        let plugin = self.load(spec).expect("a plugin");
        let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
        Chain::new(vec![(plugin, config)])
    }
}

/// What the proxy would hold. Panics where a test asks for it.
pub(crate) struct Message {
    request: http::request::Parts,
    response: Option<http::response::Parts>,
    trouble: Trouble,
}

/// What reading the head of the request does.
#[derive(Clone, Copy)]
enum Trouble {
    None,
    Panic,
    /// Takes time, but no CPU.
    Stall(Duration),
}

/// A GET without headers but these.
pub(crate) fn request(headers: &[(&'static str, &'static str)]) -> Lent {
    lend(headers, None, Trouble::None)
}

/// The same, once there is a response.
pub(crate) fn answered(headers: &[(&'static str, &'static str)]) -> Lent {
    let (response, ()) = Response::builder().status(200).body(()).expect("a response").into_parts();
    lend(headers, Some(response), Trouble::None)
}

/// A request that makes each host function panic that reads its head.
pub(crate) fn cursed() -> Lent {
    lend(&[], None, Trouble::Panic)
}

/// A request whose head takes so long to read, as if the system had taken the CPU away.
pub(crate) fn stalled(time: Duration) -> Lent {
    lend(&[], None, Trouble::Stall(time))
}

fn lend(
    headers: &[(&'static str, &'static str)],
    response: Option<http::response::Parts>,
    trouble: Trouble,
) -> Lent {
    let (mut request, ()) = Request::get("/path?query").body(()).expect("a request").into_parts();
    for (name, value) in headers {
        request.headers.append(*name, HeaderValue::from_static(value));
    }
    Lent::new(Exchange {
        heads: Box::new(Message { request, response, trouble }),
        sizes: HeadSizes::default(),
        facts: Facts {
            raw_target: Bytes::from_static(b"/path?query"),
            authority: "a.test".into(),
            scheme: "http",
            tls: None,
            protocol: "HTTP/1.1",
            client: IpAddr::V4(Ipv4Addr::LOCALHOST),
            route: "route".into(),
            request_id: "0123".into(),
        },
        phase: Phase::Request,
        attributes: Attributes::default(),
        upstream: None,
        hash_key: None,
        upstreams: Arc::new(NoUpstreams),
        calls: Vec::new(),
        body: None,
        piece: None,
        passed_over: PassedOver::default(),
        attempt: None,
        trouble: None,
        http_calls: HttpCalls::default(),
        entry: None,
    })
}

/// A request header after the call.
pub(crate) fn header<'a>(lent: &'a Lent, name: &str) -> Option<&'a str> {
    let exchange = lent.exchange().expect("the exchange is back");
    exchange.heads.request().headers.get(name).map(|value| value.to_str().expect("text"))
}

/// A response header after the call.
pub(crate) fn response_header<'a>(lent: &'a Lent, name: &str) -> Option<&'a str> {
    let response = lent.exchange().expect("the exchange is back").heads.response().expect("a response");
    response.headers.get(name).map(|value| value.to_str().expect("text"))
}

struct NoUpstreams;

impl UpstreamNames for NoUpstreams {
    fn id(&self, _: &str) -> Option<UpstreamId> {
        None
    }
}

impl Heads for Message {
    fn request(&self) -> &http::request::Parts {
        match self.trouble {
            Trouble::None => {}
            Trouble::Panic => panic!("a bug of the host"),
            Trouble::Stall(time) => std::thread::sleep(time),
        }
        &self.request
    }

    fn insert_request_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.request.headers.insert(name, value);
    }

    fn append_request_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.request.headers.append(name, value);
    }

    fn remove_request_header(&mut self, name: &HeaderName) {
        self.request.headers.remove(name);
    }

    fn set_method(&mut self, method: Method) {
        self.request.method = method;
    }

    fn set_authority(&mut self, authority: HeaderValue) {
        self.request.headers.insert(http::header::HOST, authority);
    }

    fn set_target(&mut self, target: PathAndQuery) {
        self.request.uri = target.into();
    }

    fn response(&self) -> Option<&http::response::Parts> {
        self.response.as_ref()
    }

    fn set_status(&mut self, status: StatusCode) {
        if let Some(response) = &mut self.response {
            response.status = status;
        }
    }

    fn insert_response_header(&mut self, name: HeaderName, value: HeaderValue) {
        if let Some(response) = &mut self.response {
            response.headers.insert(name, value);
        }
    }

    fn append_response_header(&mut self, name: HeaderName, value: HeaderValue) {
        if let Some(response) = &mut self.response {
            response.headers.append(name, value);
        }
    }

    fn remove_response_header(&mut self, name: &HeaderName) {
        if let Some(response) = &mut self.response {
            response.headers.remove(name);
        }
    }

    fn replace_response(&mut self, status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>) {
        let (mut response, ()) = Response::new(()).into_parts();
        response.status = status;
        for (name, value) in headers {
            response.headers.append(name, value);
        }
        self.response = Some(response);
    }
}
