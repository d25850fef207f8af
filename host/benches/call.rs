//! What a plugin adds to a request: nanoseconds of CPU for a call that reads one header and sets another,
//! beside the same done natively. `cargo bench -p edgewright --bench call`. Trust ratios: the machine's speed
//! drifts.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench talks, and stops where it can't go on")]

#[path = "../tests/plugin/guest.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod guest;
#[path = "../tests/plugin/request.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod request;

use std::hint::black_box;
use std::time::Duration;

use edgewright::config::model::Isolation;
use edgewright::plugin::exchange::Decision;
use edgewright::plugin::{Chain, Lent};
use http::{HeaderName, HeaderValue};
use tokio::runtime::Runtime;

use guest::{COPY, Guest, NEXT};
use request::{Bench, answered};

const CALLS: u32 = 50_000;
const ROUNDS: usize = 5;

/// Eight headers, as a browser sends them, and the one that is read.
const HEAD: [(&str, &str); 9] = [
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("accept-language", "en-US,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("cookie", "session=0123456789abcdef; theme=dark"),
    ("cache-control", "max-age=0"),
    ("referer", "https://a.test/"),
    ("upgrade-insecure-requests", "1"),
    ("x-in", "a value of some length"),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let bench = Bench::new();
    let mut lent = answered(&HEAD);
    let native = best(|| {
        let exchange = lent.exchange_mut().expect("the exchange");
        let value = exchange.heads.request().headers.get("x-in").expect("a header").as_bytes().to_vec();
        let name = HeaderName::from_bytes(black_box(b"x-out")).expect("a name");
        exchange.heads.insert_request_header(name, HeaderValue::try_from(value).expect("a value"));
    });
    println!("{native:>8} ns  natively, get and set");
    let mut spec = bench.spec(&Guest { on_request: Some(NEXT), ..Guest::default() }.build());
    let nothing = time(&runtime, &bench.chain(&spec));
    println!("{nothing:>8} ns  a plugin that does nothing");
    spec = bench.spec(&Guest { on_request: Some(COPY), ..Guest::default() }.build());
    let reused = time(&runtime, &bench.chain(&spec));
    println!("{reused:>8} ns  a plugin, get and set");
    spec.limits.time = Duration::from_millis(20);
    println!("{:>8} ns  the same on a fiber", time(&runtime, &bench.chain(&spec)));
    spec.limits.time = Duration::from_millis(10);
    spec.isolation = Isolation::Fresh;
    println!("{:>8} ns  the same, fresh instances", time(&runtime, &bench.chain(&spec)));
    let plugin = bench.load(&spec).expect("a plugin");
    let config = plugin.configure(&serde_json::Map::new()).expect("no configuration");
    spec.isolation = Isolation::Reuse;
    let reuse = bench.load(&spec).expect("a plugin");
    let chain = Chain::new(vec![(reuse, config); 5]);
    println!("{:>8} ns  five of them, each", time(&runtime, &chain) / 5);
}

fn time(runtime: &Runtime, chain: &Chain) -> u128 {
    let mut lent = answered(&HEAD);
    runtime.block_on(async {
        let mut fastest = u128::MAX;
        for _ in 0..ROUNDS {
            let began = cpu();
            for _ in 0..CALLS {
                forget_calls(&mut lent);
                let decision = chain.on_request(black_box(&mut lent)).await;
                assert!(matches!(decision, Decision::Next));
            }
            fastest = fastest.min((cpu() - began).as_nanos() / u128::from(CALLS));
        }
        fastest
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

fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.expect("a time"), nanos.expect("a time"))
}
