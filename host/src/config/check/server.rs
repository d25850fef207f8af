//! `[server]` and `[dns]`.

use std::num::NonZeroUsize;

use super::{client_limits, names};
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Dns, Server, ServerTiming, TraceContext, UnderscoreHeaders};
use crate::config::raw::{self, Scalar};
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, scalar};

pub(crate) fn server(scope: &mut Scope, raw: raw::Server) -> Server {
    let default = defaults::server();
    let mut owned_headers =
        scope.entries(raw.owned_headers.unwrap_or_default(), |text| names::owned_header(text));
    owned_headers.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
    owned_headers.dedup();
    Server {
        threads: scope.value(raw.threads, default.threads, threads),
        grace: scope.value(raw.grace, default.grace, |value| scalar::duration(value, defaults::GRACE)),
        drain_delay: scope
            .value(raw.drain_delay, default.drain_delay, |value| scalar::duration(value, defaults::GRACE)),
        trusted_proxies: scope
            .entries(raw.trusted_proxies.unwrap_or_default(), |text| address::network(text)),
        owned_headers,
        underscore_headers: scope.value(raw.underscore_headers, default.underscore_headers, |text| {
            scalar::word(text, &[("drop", UnderscoreHeaders::Drop), ("keep", UnderscoreHeaders::Keep)])
        }),
        trace_context: scope.value(raw.trace_context, default.trace_context, |text| {
            scalar::word(text, &[("pass", TraceContext::Pass), ("make", TraceContext::Make)])
        }),
        loop_detection: raw.loop_detection.unwrap_or(default.loop_detection),
        limits: client_limits::client_limits(scope, raw.limits, raw.timeouts),
        via: raw.via.unwrap_or(default.via),
        watch: raw.watch.unwrap_or(default.watch),
        server_timing: scope.value(raw.server_timing, default.server_timing, |text| server_timing(text)),
    }
}

/// `"off"`, `"on"` or `"header:NAME"`.
fn server_timing(text: &str) -> Result<ServerTiming, Diagnostic> {
    if let Some(name) = text.strip_prefix("header:") {
        return names::owned_header(name).map(ServerTiming::Asked);
    }
    match text {
        "off" => Ok(ServerTiming::Off),
        "on" => Ok(ServerTiming::On),
        _ => Err(Diagnostic::error(codes::UNKNOWN_WORD, format!("unknown word `{text}`"))
            .with_help("the words here are `off`, `on` and `header:NAME`, as in `header:x-debug-timing`")),
    }
}

/// `"auto"` is nothing.
pub(crate) fn threads(value: &Scalar) -> Result<Option<NonZeroUsize>, Diagnostic> {
    match value {
        Scalar::Integer(number) => scalar::count(*number, defaults::THREADS).map(NonZeroUsize::new),
        Scalar::Text(text) if text == "auto" => Ok(None),
        other => Err(Diagnostic::error(codes::WRONG_TYPE, format!("`{other}` is not a number of threads"))
            .with_help("write `\"auto\"` for one thread per CPU, or a number: `threads = 4`")),
    }
}

pub(crate) fn dns(scope: &mut Scope, raw: raw::Dns) -> Dns {
    let default = defaults::dns();
    let ages = raw.min_ttl.as_ref().or(raw.max_ttl.as_ref()).map(toml::Spanned::span);
    let servers = raw.servers.map(|field| {
        if field.get_ref().is_empty() {
            let message = "`servers` is an empty list, which could resolve nothing";
            scope.report(
                field.span(),
                Diagnostic::error(codes::EMPTY_VALUE, message)
                    .with_help("leave `servers` out to use those of the system"),
            );
        }
        scope.entries(field.into_inner(), |text| address::socket(text, 53))
    });
    let mut time =
        |field, default| scope.value(field, default, |value| scalar::duration(value, defaults::TIME));
    let timeout = time(raw.timeout, default.timeout);
    let retry = time(raw.retry, default.retry);
    let mut age =
        |field, default| scope.value(field, default, |value| scalar::duration(value, defaults::AGE));
    let min_ttl = age(raw.min_ttl, default.min_ttl);
    let max_ttl = age(raw.max_ttl, default.max_ttl);
    let stale_max = age(raw.stale_max, default.stale_max);
    if let Some(span) = ages.filter(|_| min_ttl > max_ttl) {
        let (min, max) = (scalar::told(min_ttl), scalar::told(max_ttl));
        let message = format!("`min-ttl` (`{min}`) is above `max-ttl` (`{max}`)");
        let help = "no answer could be kept for so long and so short";
        scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    Dns { servers, timeout, min_ttl, max_ttl, retry, stale_max }
}
