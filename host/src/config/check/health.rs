//! `health` of an upstream.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Health, Probe};
use crate::config::raw::{self, Scalar};
use crate::config::scope::Scope;
use crate::config::{address, defaults, scalar};

const KINDS: &str = "one of `http = \"/healthz\"`, `tcp = true` and `grpc = \"service\"`";

/// A name of a service of gRPC is sent with a length of one byte.
const LONGEST_SERVICE: usize = 127;

pub(super) fn health(scope: &mut Scope, raw: Spanned<raw::Health>) -> Option<Health> {
    let span = raw.span();
    let raw = raw.into_inner();
    let http_only = [
        (raw.expected_status.as_ref().map(Spanned::span), "expected-status"),
        (raw.host.as_ref().filter(|_| raw.tcp.is_some()).map(Spanned::span), "host"),
    ];
    let is_http = raw.http.is_some();
    for (at, key) in http_only {
        if let Some(at) = at.filter(|_| !is_http) {
            let found = Diagnostic::error(codes::CONTRADICTION, format!("`{key}` is nothing for this check"));
            scope.report(at, found.with_help("only a check over HTTP has it"));
        }
    }
    let expected = raw.expected_status.map_or_else(
        || vec![defaults::CHECK_STATUS],
        |field| {
            if field.get_ref().is_empty() {
                let found = Diagnostic::error(codes::EMPTY_VALUE, "no status would be good");
                scope.report(field.span(), found.with_help("leave it out for `[\"2xx\"]`"));
            }
            scope.entries(field.into_inner(), statuses)
        },
    );
    let probe = match (raw.http, raw.tcp, raw.grpc) {
        (Some(path), None, None) => {
            scope.keep(path.span(), path_of(path.get_ref())).map(|path| Probe::Http { path, expected })
        }
        (None, Some(tcp), None) if *tcp.get_ref() => Some(Probe::Tcp),
        (None, None, Some(service)) => {
            scope.keep(service.span(), service_of(service.get_ref())).map(|service| Probe::Grpc { service })
        }
        _ => {
            let found = Diagnostic::error(codes::BAD_CHECK, "`health` says in no single way what to ask");
            scope.report(span, found.with_help(KINDS));
            None
        }
    };
    let host = raw.host.and_then(|host| scope.keep(host.span(), host_of(host.get_ref())));
    let mut time = |field, default: Duration| {
        scope.value(field, default, |value| scalar::duration(value, defaults::CHECK_TIME))
    };
    let interval = time(raw.interval, defaults::CHECK_INTERVAL);
    let timeout = time(raw.timeout, defaults::CHECK_TIMEOUT);
    let mut row = |field: Option<Spanned<i64>>, default: u32| {
        scope.value(field, default, |number| {
            let row = scalar::count(*number, defaults::CHECKS_IN_A_ROW)?;
            Ok(u32::try_from(row).unwrap_or(u32::MAX))
        })
    };
    let healthy_after = row(raw.healthy_after, defaults::HEALTHY_AFTER);
    let unhealthy_after = row(raw.unhealthy_after, defaults::UNHEALTHY_AFTER);
    Some(Health { probe: probe?, host, interval, timeout, healthy_after, unhealthy_after })
}

/// A target of a GET: a path, with a query if need be.
fn path_of(text: &str) -> Result<String, Diagnostic> {
    let is_target = text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if is_target {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(codes::BAD_CHECK, format!("`{text}` is no path to ask for"))
        .with_help("write it as it is sent: `http = \"/healthz\"`"))
}

fn service_of(text: &str) -> Result<String, Diagnostic> {
    if text.len() <= LONGEST_SERVICE && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(codes::BAD_CHECK, format!("`{text}` is no name of a service")).with_help(
        "up to 127 letters, as in `grpc = \"shop.Orders\"`; `grpc = \"\"` asks for the whole server",
    ))
}

fn host_of(text: &str) -> Result<String, Diagnostic> {
    let name =
        text.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(text, |(name, _)| name);
    let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>().is_ok();
    if is_address || address::name(name).is_ok() {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(codes::BAD_CHECK, format!("`{text}` is no host"))
        .with_help("for example `host = \"api.internal\"`"))
}

/// `204`, `"204"` or `"2xx"`.
fn statuses(value: &Scalar) -> Result<RangeInclusive<u16>, Diagnostic> {
    let text = value.to_string();
    let range = match text.strip_suffix("xx") {
        Some(class) => class.parse::<u16>().ok().map(|class| class * 100..=class * 100 + 99),
        None => text.parse::<u16>().ok().map(|status| status..=status),
    };
    range.filter(|range| (200..=599).contains(range.start())).ok_or_else(|| {
        Diagnostic::error(codes::OUT_OF_RANGE, format!("`{text}` is no status"))
            .with_help("for example `[200, 204]`, or `[\"2xx\", 404]`")
    })
}
