//! `grants` of a manifest, and the limits that go with them. Must not know who asks for what.

use std::path::Path;

use toml::Spanned;

use super::{granted_file, http_origin};

use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Grants, HttpGrant};
use crate::config::scope::Scope;
use crate::config::{codes, defaults, example, raw, scalar};

/// Takes the limits of what is granted out of `limits`. `base` is the directory of the manifest.
pub(crate) fn grants(scope: &mut Scope, raw: raw::Grants, limits: &mut raw::Limits, base: &Path) -> Grants {
    let kv = limited(scope, raw.kv, limits.kv.take(), ("kv", "kv"));
    let counter = limited(scope, raw.counter, limits.counters.take(), ("counter", "counters"));
    let series = limited(scope, raw.metrics, limits.series.take(), ("metrics", "series"));
    let calls = limited(scope, raw.http.is_some(), limits.http_calls.take(), ("http", "http-calls"));
    let answer = limited(scope, raw.http.is_some(), limits.http_answer.take(), ("http", "http-answer"));
    let origins = raw.http.map(|list| http_origin::origins(scope, list, base));
    Grants {
        kv: kv.map(|limit| scope.value(limit, defaults::KV_BYTES, |value| scalar::size(value, defaults::KV))),
        counter: counter.map(|limit| {
            scope.value(limit, defaults::COUNTER_KEYS, |keys| scalar::count(*keys, defaults::COUNTERS))
        }),
        metrics: series.map(|limit| {
            scope.value(limit, defaults::METRIC_SERIES, |series| scalar::count(*series, defaults::SERIES))
        }),
        http: origins.map(|origins| HttpGrant {
            origins,
            calls: scope.value(calls.flatten(), defaults::HTTP_CALLS_DEFAULT, |calls| {
                scalar::count(*calls, defaults::HTTP_CALLS)
            }),
            answer: scope.value(answer.flatten(), defaults::HTTP_ANSWER_DEFAULT, |size| {
                scalar::size(size, defaults::HTTP_ANSWER)
            }),
        }),
        env: scope.entries(raw.env.unwrap_or_default(), |name| variable(name)),
        files: granted_file::files(scope, raw.files.unwrap_or_default(), base),
    }
}

/// The name of a variable of the environment.
fn variable(name: &str) -> Result<String, Diagnostic> {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'=';
    if !name.is_empty() && name.bytes().all(fits) {
        return Ok(name.to_owned());
    }
    let message = format!("`{}` can't be a variable of the environment", name.escape_debug());
    Err(Diagnostic::error(codes::BAD_VARIABLE, message).with_help("for example `env = [\"API_TOKEN\"]`"))
}

/// The limit of something that is granted; a limit of what is not is a slip.
fn limited<R>(
    scope: &mut Scope,
    granted: bool,
    limit: Option<Spanned<R>>,
    (grant, key): (&str, &str),
) -> Option<Option<Spanned<R>>> {
    if granted {
        return Some(limit);
    }
    if let Some(limit) = limit {
        let message = format!("`limits.{key}` is there, but `{grant}` is not granted");
        let found = Diagnostic::error(codes::CONTRADICTION, message);
        scope.report(
            limit.span(),
            found.with_help(format!(
                "write `{}` in `grants`",
                example::of("manifest", grant).unwrap_or(grant)
            )),
        );
    }
    None
}
