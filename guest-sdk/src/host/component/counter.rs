//! The import `counter`, in the SDK's types. Must not hold logic.

use std::time::Duration;

use crate::CounterError;
use crate::bindings::imports::edgewright::plugin::counter as wit_counter;
use crate::counter::{Rule, Standing, Window};

pub(crate) fn take(key: &str, amount: u32, rule: Rule, span_ms: u32) -> Result<Standing, CounterError> {
    let window = match rule.window {
        Window::Fixed => wit_counter::Window::Fixed,
        Window::Sliding => wit_counter::Window::Sliding,
    };
    let standing = wit_counter::take(key, amount, wit_counter::Rule { limit: rule.limit, span_ms, window })?;
    Ok(Standing {
        allowed: standing.allowed,
        remaining: standing.remaining,
        retry: Duration::from_millis(standing.retry_ms),
        reset: Duration::from_millis(standing.reset_ms),
    })
}

super::same_errors!(wit_counter::CounterError => CounterError { InvalidKey, InvalidRule, Full });
