//! `[server.limits]` and `[server.timeouts]`.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;

use crate::config::model::ClientLimits;
use crate::config::raw::{self, Scalar};
use crate::config::scope::Scope;
use crate::config::{defaults, scalar};

const KIB: u64 = 1024;
const GIB: u64 = 1024 * 1024 * KIB;

/// What plugins may add has to fit into the contract's 64 KiB.
const HEADER_BYTES: RangeInclusive<u64> = KIB..=48 * KIB;
/// What plugins may add has to fit into the contract's 128 lines.
const HEADER_LINES: RangeInclusive<usize> = 1..=100;
/// None at all is a choice; more than a terabyte is none.
const BODY: RangeInclusive<u64> = 0..=1024 * GIB;
const REQUESTS: RangeInclusive<usize> = 1..=1_000_000_000;
const CONNECTIONS: RangeInclusive<usize> = 1..=10_000_000;
/// Each stream costs memory.
const STREAMS: RangeInclusive<usize> = 1..=10_000;

pub(super) fn client_limits(
    scope: &mut Scope,
    limits: raw::ClientLimits,
    timeouts: raw::ClientTimeouts,
) -> ClientLimits {
    let default = ClientLimits::DEFAULT;
    let mut size = |field: Option<Spanned<Scalar>>, default, range: RangeInclusive<u64>| {
        scope.value(field, default, |value| scalar::size(value, range))
    };
    let header_bytes = size(limits.header_bytes, default.header_bytes, HEADER_BYTES);
    let target_bytes = size(limits.target_bytes, default.target_bytes, HEADER_BYTES);
    let most = usize::try_from(default.body_bytes).unwrap_or(usize::MAX);
    let body_bytes = size(limits.body, most, BODY) as u64;
    let header_lines =
        scope.value(limits.header_lines, default.header_lines, |number| scalar::count(*number, HEADER_LINES));
    let mut count = |field: Option<Spanned<i64>>, default: u32, range: RangeInclusive<usize>| {
        let checked = |number: &i64| {
            scalar::count(*number, range).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        scope.value(field, default, checked)
    };
    let requests = count(limits.requests, default.requests, REQUESTS);
    let streams = count(limits.streams, default.streams, STREAMS);
    let connections = scope.value(limits.max_connections, default.connections, |number| {
        scalar::count(*number, CONNECTIONS).map(|number| Some(u32::try_from(number).unwrap_or(u32::MAX)))
    });
    let mut time = |field: Option<Spanned<Scalar>>, default: Duration| {
        scope.value(field, default, |value| scalar::duration(value, defaults::TIME))
    };
    ClientLimits {
        header_bytes,
        header_lines,
        target_bytes,
        body_bytes,
        requests,
        streams,
        connections,
        handshake: time(timeouts.handshake, default.handshake),
        header: time(timeouts.header, default.header),
        body: time(timeouts.body, default.body),
        write: time(timeouts.write, default.write),
        idle: time(timeouts.idle, default.idle),
        tunnel: time(timeouts.tunnel, default.tunnel),
    }
}
