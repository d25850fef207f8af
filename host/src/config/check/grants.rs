//! `grants` of a manifest, and the limits that go with them. Must not know who asks for what.

use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::Grants;
use crate::config::scope::Scope;
use crate::config::{codes, defaults, raw, scalar};

/// Takes the limits of what is granted out of `limits`.
pub(crate) fn grants(scope: &mut Scope, raw: raw::Grants, limits: &mut raw::Limits) -> Grants {
    let kv = limited(scope, raw.kv, limits.kv.take(), ("kv", "kv"));
    let counter = limited(scope, raw.counter, limits.counters.take(), ("counter", "counters"));
    Grants {
        kv: kv.map(|limit| scope.value(limit, defaults::KV_BYTES, |value| scalar::size(value, defaults::KV))),
        counter: counter.map(|limit| {
            scope.value(limit, defaults::COUNTER_KEYS, |keys| scalar::count(*keys, defaults::COUNTERS))
        }),
    }
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
        scope.report(limit.span(), found.with_help(format!("write `grants = {{ {grant} = true }}`")));
    }
    None
}
