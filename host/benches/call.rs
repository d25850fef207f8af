//! What a plugin adds to a request: nanoseconds of CPU for a call that reads one header and sets another,
//! beside the same done natively, with an instance that is used again and with one that serves one call; and
//! the memory of an instance. `cargo bench -p edgewright --bench call`, or `… -- FILE.wasm JSON` for the
//! request phase of a component of your own. Trust ratios: the machine's speed drifts.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench talks, and stops where it can't go on")]

#[path = "../tests/plugin/guest.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod guest;
#[path = "../tests/plugin/request.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod request;

use std::hint::black_box;
use std::time::{Duration, Instant};

use edgewright::config::model::Isolation;
use edgewright::plugin::exchange::Decision;
use edgewright::plugin::{Chain, Lent, PluginSpec};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

use guest::{COPY, Guest, NEXT};
use request::{Bench, answered};

const CALLS: u32 = 50_000;
const ROUNDS: usize = 5;

/// Calls of a fresh instance each, which take so much longer.
const FRESH_CALLS: u32 = 5_000;

/// Instances whose memory is looked at.
const INSTANCES: usize = 64;

/// Eight headers, as a browser sends them, and the two that are read.
const HEAD: [(&str, &str); 10] = [
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("accept-language", "en-US,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("cookie", "session=0123456789abcdef; theme=dark"),
    ("cache-control", "max-age=0"),
    ("referer", "https://a.test/"),
    ("upgrade-insecure-requests", "1"),
    ("x-in", "a value of some length"),
    ("x-api-key", "key"),
];

/// What is measured.
struct Subject {
    bench: Bench,
    spec: PluginSpec,
    config: Map<String, Value>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let bytes = match args.next() {
        Some(file) => std::fs::read(file).expect("the component"),
        None => Guest { on_request: Some(COPY), ..Guest::default() }.build(),
    };
    let config = args.next().map(|json| serde_json::from_str(&json).expect("the configuration"));
    let bench = Bench::with_workers(INSTANCES);
    let mut spec = bench.spec(&bytes);
    (spec.limits.memory, spec.limits.kept_memory) = (16 << 20, 12 << 20);
    let mut subject = Subject { spec, bench, config: config.unwrap_or_default() };

    let native = native();
    println!("{native:>8} ns  natively, get and set");
    println!("{:>8} ns  a plugin that does nothing", Subject::idle(&runtime));
    let reused = time(&runtime, &subject.chain(1), CALLS);
    println!("{reused:>8} ns  a plugin, get and set: {} x natively (7 at most)", ratio(reused, native));
    println!("{:>8} ns  five of them, each", time(&runtime, &subject.chain(5), CALLS) / 5);
    subject.spec.limits.time = Duration::from_millis(20);
    println!("{:>8} ns  the same on a fiber", time(&runtime, &subject.chain(1), CALLS));
    subject.spec.limits.time = Duration::from_millis(10);
    subject.spec.isolation = Isolation::Fresh;
    let fresh = time(&runtime, &subject.chain(1), FRESH_CALLS);
    println!("{fresh:>8} ns  the same, fresh instances: {} x reused (25 at most)", ratio(fresh, reused));
    let latency = latency(&runtime, &subject.chain(1));
    println!("{latency:>8} ns  of these before the answer, where instances are made ahead");
    subject.spec.isolation = Isolation::Reuse;
    println!("{:>8} KiB resident for each instance (512 at most)", subject.resident());
}

impl Subject {
    fn chain(&self, plugins: usize) -> Chain {
        let plugin = self.bench.load(&self.spec).expect("a plugin");
        let config = plugin.configure(&self.config).expect("a configuration");
        Chain::new(vec![(plugin, config); plugins])
    }

    fn idle(runtime: &Runtime) -> u128 {
        let bench = Bench::new();
        let spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
        time(runtime, &bench.chain(&spec), CALLS)
    }

    /// Makes as many instances as workers would have, and looks at what the process has more then.
    fn resident(&self) -> usize {
        let plugin = self.bench.load(&self.spec).expect("a plugin");
        let config = plugin.configure(&self.config).expect("a configuration");
        let before = resident();
        plugin.warm(&[config], Instant::now() + Duration::from_secs(60));
        resident().saturating_sub(before) / INSTANCES
    }
}

fn native() -> u128 {
    let mut head = HeaderMap::new();
    for (name, value) in HEAD {
        head.insert(name, HeaderValue::from_static(value));
    }
    best(|| {
        let value = head.get(black_box("x-in")).expect("a header").as_bytes().to_vec();
        let name = HeaderName::from_bytes(black_box(b"x-out")).expect("a name");
        head.insert(name, HeaderValue::try_from(value).expect("a value"));
    })
}

/// All that a call costs, before the answer and behind it.
fn time(runtime: &Runtime, chain: &Chain, calls: u32) -> u128 {
    let mut lent = answered(&HEAD);
    runtime.block_on(async {
        let mut fastest = u128::MAX;
        for _ in 0..ROUNDS {
            let began = cpu();
            for _ in 0..calls {
                forget_calls(&mut lent);
                let decision = chain.on_request(black_box(&mut lent)).await;
                assert!(matches!(decision, Decision::Next));
                chain.refill().await;
            }
            fastest = fastest.min((cpu() - began).as_nanos() / u128::from(calls));
        }
        fastest
    })
}

/// What a request waits for: half of the calls are faster.
fn latency(runtime: &Runtime, chain: &Chain) -> u128 {
    let mut lent = answered(&HEAD);
    runtime.block_on(async {
        chain.refill().await;
        let mut took = Vec::new();
        for _ in 0..FRESH_CALLS {
            forget_calls(&mut lent);
            let began = Instant::now();
            let decision = chain.on_request(black_box(&mut lent)).await;
            took.push(began.elapsed().as_nanos());
            assert!(matches!(decision, Decision::Next));
            chain.refill().await;
        }
        took.sort_unstable();
        took.get(took.len() / 2).copied().unwrap_or_default()
    })
}

/// Each request has its own list; its memory is made once per request, not per call.
fn forget_calls(lent: &mut Lent) {
    lent.exchange_mut().expect("the exchange").calls.clear();
}

fn best(mut work: impl FnMut()) -> u128 {
    let mut fastest = u128::MAX;
    for _ in 0..ROUNDS {
        let began = cpu();
        for _ in 0..CALLS {
            work();
        }
        fastest = fastest.min((cpu() - began).as_nanos() / u128::from(CALLS));
    }
    fastest
}

/// With one digit behind the point.
fn ratio(one: u128, other: u128) -> f64 {
    (one * 10 / other.max(1)) as f64 / 10.0
}

fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.expect("a time"), nanos.expect("a time"))
}

/// Of this process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a figure");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
