//! `retries` of an upstream.

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Retries, RetryOn};
use crate::config::raw::{self, Scalar};
use crate::config::scope::Scope;
use crate::config::{defaults, scalar};

/// One entry of `on`.
enum Reason {
    Connect,
    Reset,
    Timeout,
    Status(u16),
}

pub(super) fn retries(scope: &mut Scope, raw: raw::Retries) -> Retries {
    let default = defaults::retries();
    let attempts = scope.value(raw.attempts, 2, |attempts| scalar::count(*attempts, defaults::ATTEMPTS));
    let on = match raw.on {
        None => default.on,
        Some(field) => on(scope.entries(field.into_inner(), reason)),
    };
    Retries {
        attempts: u32::try_from(attempts).unwrap_or(default.attempts),
        budget: scope.value(raw.budget, default.budget, scalar::percent),
        on,
    }
}

fn on(reasons: Vec<Reason>) -> RetryOn {
    let mut on = RetryOn { connect: false, reset: false, timeout: false, statuses: Vec::new() };
    for reason in reasons {
        match reason {
            Reason::Connect => on.connect = true,
            Reason::Reset => on.reset = true,
            Reason::Timeout => on.timeout = true,
            Reason::Status(status) if !on.statuses.contains(&status) => on.statuses.push(status),
            Reason::Status(_) => {}
        }
    }
    on
}

fn reason(value: &Scalar) -> Result<Reason, Diagnostic> {
    #[derive(Clone, Copy)]
    enum Word {
        Connect,
        Reset,
        Timeout,
    }
    let text = value.to_string();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let status = text.parse::<u16>().ok().filter(|status| (500..600).contains(status));
        return status.map(Reason::Status).ok_or_else(|| {
            Diagnostic::error(codes::OUT_OF_RANGE, format!("`{text}` is no status of a failing server"))
                .with_help("statuses from `500` to `599` are fine")
        });
    }
    let words = [("connect", Word::Connect), ("reset", Word::Reset), ("timeout", Word::Timeout)];
    Ok(match scalar::word(&text, &words)? {
        Word::Connect => Reason::Connect,
        Word::Reset => Reason::Reset,
        Word::Timeout => Reason::Timeout,
    })
}
