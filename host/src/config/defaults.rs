//! What a key is where it is left out, and its bounds; each with its reason.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use http::StatusCode;

use super::model::{
    AccessLog, ClientLimits, Dns, Grants, Limits, LogSink, Manifest, OnFailure, Server, ServerTiming,
    Timeouts, TlsVersion, UnderscoreHeaders,
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

/// What a plugin may keep in `kv`: from a few entries to what a machine has to spare.
pub(crate) const KV: RangeInclusive<u64> = 1024..=1024 * 1024 * 1024;
/// Room for some thousand entries: flags, tokens, small caches.
pub(crate) const KV_BYTES: usize = 1024 * 1024;
/// Keys of `counter`, of about 250 bytes each.
pub(crate) const COUNTERS: RangeInclusive<usize> = 1..=10_000_000;
/// As many clients within one span, for about 16 MiB.
pub(crate) const COUNTER_KEYS: usize = 65_536;

/// As nginx and Caddy: browsers don't remember it, so that a slip can be mended.
pub(crate) const REDIRECT_STATUS: StatusCode = StatusCode::FOUND;

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

/// `timeouts` of an upstream.
pub(crate) fn timeouts() -> Timeouts {
    Timeouts {
        // A peer of a data centre answers within milliseconds, across the world within 300 ms.
        connect: Duration::from_secs(1),
        read: Duration::from_secs(30),
        write: Duration::from_secs(30),
        // Below the 75 s after which nginx closes, so that it is rarely the peer who closes first.
        idle: Duration::from_secs(60),
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
    AccessLog { sink: LogSink::Stdout, attributes: Vec::new() }
}
