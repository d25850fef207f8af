//! What a key is where it is left out, and its bounds; each with its reason.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::model::{
    AccessLog, Balance, Body, ClientLimits, Dns, Ejection, Grants, Limits, LogFormat, LogSink, Manifest,
    OnFailure, PeerEntry, PeerProtocol, Retries, RetryOn, Server, ServerTiming, Timeouts, TlsVersion,
    TraceContext, UnderscoreHeaders, Upstream, UpstreamLimits,
};
use super::model::{Isolation, Quarantine};

const DAY: Duration = Duration::from_secs(24 * 3600);
const MILLISECOND: Duration = Duration::from_millis(1);

/// More threads than this is a slip: no machine gains from it.
pub(crate) const THREADS: RangeInclusive<usize> = 1..=1024;
/// No grace at all is a choice; a day is longer than any orchestrator waits.
pub(crate) const GRACE: RangeInclusive<Duration> = Duration::ZERO..=DAY;
/// Nothing waits for ever, and zero would refuse everything.
pub(crate) const TIME: RangeInclusive<Duration> = MILLISECOND..=DAY;
/// How long an answer is used may be not at all.
pub(crate) const AGE: RangeInclusive<Duration> = Duration::ZERO..=DAY;
/// One call of a plugin: above a minute, no client is there any more.
pub(crate) const CALL_TIME: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(60);
/// From one page of WebAssembly to all that 32 bits reach.
pub(crate) const CALL_MEMORY: RangeInclusive<u64> = 64 * 1024..=4 * 1024 * 1024 * 1024;
/// Instances of one worker.
pub(crate) const INSTANCES: RangeInclusive<usize> = 1..=10_000;
/// No wait at all is a choice; past ten seconds, whoever waits had better be told.
pub(crate) const QUEUE: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(10);
/// Calls of one instance.
pub(crate) const CALLS: RangeInclusive<usize> = 1..=1_000_000_000;
/// Failures in a row until quarantine; 0 is never.
pub(crate) const FAILURES: RangeInclusive<usize> = 0..=1_000_000;

/// TLS 1.0 and 1.1 are not for use (RFC 8996), and not there.
pub(crate) const TLS_MIN_VERSION: TlsVersion = TlsVersion::Tls12;
/// A body that a plugin is given whole: it is in the proxy's memory, and once more in the plugin's.
pub(crate) const BODY_BUFFER: RangeInclusive<u64> = 1024..=64 * 1024 * 1024;

/// What a plugin may keep in `kv`: from a few entries to what a machine has to spare.
pub(crate) const KV: RangeInclusive<u64> = 1024..=1024 * 1024 * 1024;
/// Room for some thousand entries: flags, tokens, small caches.
pub(crate) const KV_BYTES: usize = 1024 * 1024;
/// Keys of `counter`, of about 250 bytes each.
pub(crate) const COUNTERS: RangeInclusive<usize> = 1..=10_000_000;
/// As many clients within one span, for about 16 MiB.
pub(crate) const COUNTER_KEYS: usize = 65_536;
/// The share of a peer: the order of turns is kept whole, and has the length of their sum.
pub(crate) const WEIGHT: RangeInclusive<usize> = 1..=256;
/// Failures in a row.
pub(crate) const IN_A_ROW: RangeInclusive<usize> = 1..=1_000_000;
/// How often a request is sent.
pub(crate) const ATTEMPTS: RangeInclusive<usize> = 1..=10;
/// From one check to the next, and for one: more often would be a load of its own.
pub(crate) const CHECK_TIME: RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(3600);
/// Soon enough to notice before most clients do.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// A check that takes longer is no good sign.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// What a check wants to hear: a redirection, for one, says nothing of the application.
pub(crate) const CHECK_STATUS: RangeInclusive<u16> = 200..=299;
/// One good answer may be luck.
pub(crate) const HEALTHY_AFTER: u32 = 2;
/// One bad answer may be bad luck, and three take some seconds.
pub(crate) const UNHEALTHY_AFTER: u32 = 3;
/// Requests and connections of an upstream.
pub(crate) const AT_ONCE: RangeInclusive<usize> = 1..=1_000_000;
/// Requests that wait; none is a choice.
pub(crate) const PENDING: RangeInclusive<usize> = 0..=1_000_000;
/// Checks in a row.
pub(crate) const CHECKS_IN_A_ROW: RangeInclusive<usize> = 1..=100;
/// How long a peer that comes back is spared; not at all is a choice.
pub(crate) const SLOW_START: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(3600);

/// As nginx and Caddy: browsers don't remember it, so that a slip can be mended.
pub(crate) const REDIRECT_STATUS: StatusCode = StatusCode::FOUND;
/// Series of `metrics`: all plugins together have 10,000.
pub(crate) const SERIES: RangeInclusive<usize> = 1..=10_000;
/// Some metrics with some labels each; a path or an address as a label is past it soon.
pub(crate) const METRIC_SERIES: usize = 1_000;
/// HTTP calls for one request: a request that costs more is an attack on somebody.
pub(crate) const HTTP_CALLS: RangeInclusive<usize> = 1..=100;
/// A look-up or two in each phase.
pub(crate) const HTTP_CALLS_DEFAULT: usize = 8;
/// What one answer may hold: it is copied into the guest's memory.
pub(crate) const HTTP_ANSWER: RangeInclusive<u64> = 1024..=64 * 1024 * 1024;
/// Far more than a token or a set of keys.
pub(crate) const HTTP_ANSWER_DEFAULT: usize = 1024 * 1024;
/// Bytes of all files that a plugin may read: they are kept in memory, once for all of its instances.
pub(crate) const GRANTED_FILES: u64 = 64 * 1024 * 1024;

/// Shares.
pub(crate) const PERCENT: RangeInclusive<usize> = 0..=100;
/// Calls before a rollout is judged: of one call, nobody can tell; of more than a million, too late.
pub(crate) const ROLLOUT_CALLS: RangeInclusive<usize> = 1..=1_000_000;
/// Two failures among the first 20 calls are no chance any more.
pub(crate) const ROLLOUT_MIN_CALLS: usize = 20;
/// In percent: some plugins fail now and then under load.
pub(crate) const ROLLOUT_MAX_FAILURES: u8 = 5;
/// Weights of a route's upstreams: zero keeps one that gets nothing for now.
pub(crate) const SHARE: RangeInclusive<usize> = 0..=1_000_000;
/// A request's body: none at all is a choice, and above a terabyte nobody counts.
pub(crate) const MAX_BODY: RangeInclusive<u64> = 0..=1 << 40;
/// A mirror gets every request unless it is said otherwise.
pub(crate) const MIRROR_SHARE: u8 = 100;
/// Most requests of an API fit, and a thousand of them are no burden.
pub(crate) const MIRROR_BODY: usize = 64 * 1024;
/// Bodies of copies are kept in memory.
pub(crate) const MIRROR_BODIES: RangeInclusive<u64> = 0..=16 * 1024 * 1024;
/// A mirror that needs longer is of no use to compare with.
pub(crate) const MIRROR_TIME: Duration = Duration::from_secs(5);
/// With the largest body that is copied by default, some megabytes.
pub(crate) const MIRROR_CONCURRENCY: usize = 100;
/// Copies under way at once.
pub(crate) const MIRRORS: RangeInclusive<usize> = 1..=10_000;

/// Directory of the plugins, beside the configuration file.
pub(crate) const PLUGINS_DIR: &str = "plugins";

/// `[server]`
pub(crate) fn server() -> Server {
    Server {
        threads: None,
        // Kubernetes kills 30 s after SIGTERM: done well before.
        grace: Duration::from_secs(10),
        // Most clients that are in the middle of something ask again within this, and learn that it is over.
        drain_delay: Duration::from_millis(200),
        trusted_proxies: Vec::new(),
        owned_headers: Vec::new(),
        // As nginx does: `X_User` and `X-User` are one name to a CGI-like application.
        underscore_headers: UnderscoreHeaders::Drop,
        // What a request costs is nobody's business but the operator's.
        server_timing: ServerTiming::Off,
        limits: ClientLimits::DEFAULT,
        // Who deploys says when: half a deployment is no configuration.
        watch: false,
        // A trace that nobody collects is bytes for nothing.
        trace_context: TraceContext::Pass,
        // Ways back to the proxy itself are known without it; longer ones are rare, and a header line costs each request.
        loop_detection: false,
        // Some origins compress nothing for requests that have it (nginx, for one).
        via: false,
    }
}

/// `[dns]`
pub(crate) fn dns() -> Dns {
    Dns {
        servers: None,
        timeout: Duration::from_secs(2),
        // Answers with a TTL of 0 are common, and one look-up in 5 s is no load.
        min_ttl: Duration::from_secs(5),
        // A moved service is found within the hour, whatever its TTL said.
        max_ttl: Duration::from_secs(3600),
        retry: Duration::from_secs(5),
        // A broken resolver is seen and mended within the hour; until then, peers rarely move.
        stale_max: Duration::from_secs(3600),
    }
}

/// An upstream with these peers and nothing else.
pub(crate) fn upstream(name: Arc<str>, peers: Vec<PeerEntry>) -> Upstream {
    Upstream {
        name,
        peers,
        balance: Balance::RoundRobin,
        protocol: PeerProtocol::H1,
        tls: None,
        timeouts: timeouts(),
        retries: retries(),
        // Checks are requests, which an application must know of.
        health: None,
        ejection: ejection(),
        limits: upstream_limits(),
        // Only applications that have to warm up need it.
        slow_start: Duration::ZERO,
        // A peer that is known to fail helps nobody while another one works.
        panic_threshold: 0,
    }
}

/// `retries` of an upstream.
pub(crate) fn retries() -> Retries {
    Retries {
        // A second one finds most that is to be found; a third one mostly adds load.
        attempts: 2,
        // Where much fails, trying again makes it worse.
        budget: 20,
        // A time-out is tried again by those who can wait twice as long, a status by those who know what it means.
        on: RetryOn { connect: true, reset: true, timeout: false, statuses: Vec::new() },
    }
}

/// `limits` of an upstream.
pub(crate) fn upstream_limits() -> UpstreamLimits {
    UpstreamLimits {
        // What a peer can take, only its owner knows.
        max_requests: None,
        max_connections: None,
        // More than come in the time that each of them waits.
        max_pending: 1024,
        // Above this, most clients would rather be told.
        pending_timeout: Duration::from_secs(2),
    }
}

/// `ejection` of an upstream.
pub(crate) fn ejection() -> Ejection {
    Ejection {
        // A request that meets a dead peer goes on to the next one, and should be the last that has to.
        connect_failures: Some(1),
        // One broken path of an application is no reason to leave out a machine: whoever wants that, says so.
        server_errors: None,
        // Long enough to spare most requests a failing attempt, short enough to notice a restart.
        time: Duration::from_secs(10),
        max_time: Duration::from_secs(300),
        // With most peers failing, it is what they all stand on that is broken.
        max_share: 50,
    }
}

/// `timeouts` of an upstream.
pub(crate) fn timeouts() -> Timeouts {
    Timeouts {
        // A peer of a data centre answers within milliseconds, across the world within 300 ms.
        connect: Duration::from_secs(1),
        read: Duration::from_secs(30),
        write: Duration::from_secs(30),
        // Below the 75 s after which nginx closes, so that it is rarely the peer who closes first.
        idle: Duration::from_secs(60),
        // No more than a bound: long downloads and event streams are usual.
        total: Duration::from_secs(3600),
    }
}

/// A plugin without a manifest.
pub(crate) fn manifest() -> Manifest {
    Manifest {
        description: None,
        // That globals may live on is a promise only the plugin's author can make.
        isolation: Isolation::Fresh,
        // A check that fails must not let everyone in.
        on_failure: OnFailure::Closed,
        limits: Limits {
            time: Duration::from_millis(10),
            memory: 16 * 1024 * 1024,
            instances: 64,
            // A burst drains in less, and a client hardly notices.
            queue: Duration::from_millis(50),
            // Whatever a guest leaks, it leaks with a bound.
            calls: 100_000,
            kept_memory: kept_memory(16 * 1024 * 1024),
        },
        quarantine: Quarantine {
            // More than chance makes of a plugin that fails half of its calls, and little to burn at 10 ms each.
            failures: NonZeroU32::new(20),
            window: Duration::from_secs(10),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
        },
        grants: Grants::default(),
        body: Body::default(),
        config: serde_json::Map::new(),
        sha256: None,
    }
}

/// `limits.kept-memory` of an instance that may have `memory` bytes: what grew so near to its limit had better start
/// anew than fail.
pub(crate) fn kept_memory(memory: usize) -> usize {
    memory / 4 * 3
}

/// `[access-log]`
pub(crate) fn access_log() -> AccessLog {
    AccessLog { sink: LogSink::Stdout, format: LogFormat::Json, sample: 100, attributes: Vec::new() }
}
