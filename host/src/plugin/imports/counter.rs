//! WIT `counter`. Must not know how it is counted: [`Counters`](crate::plugin::capability::counter::Counters) do.

use crate::plugin::bindings::counter::{self, CounterError, Rule, Standing};
use crate::plugin::capability::counter::{self as counters, Refused};
use crate::plugin::imports::not_granted;
use crate::plugin::store::State;

impl counter::Host for State {
    fn take(
        &mut self,
        key: String,
        amount: u32,
        rule: Rule,
    ) -> wasmtime::Result<Result<Standing, CounterError>> {
        self.charge()?;
        let counters = self.capabilities.counters.as_ref().ok_or_else(not_granted)?;
        let taken = counters.take(&key, amount, rule.into());
        Ok(taken.map(Standing::from).map_err(CounterError::from))
    }
}

impl From<Rule> for counters::Rule {
    fn from(rule: Rule) -> Self {
        let window = match rule.window {
            counter::Window::Fixed => counters::Window::Fixed,
            counter::Window::Sliding => counters::Window::Sliding,
        };
        Self { limit: rule.limit, span: rule.span_ms.into(), window }
    }
}

impl From<counters::Standing> for Standing {
    fn from(standing: counters::Standing) -> Self {
        Self {
            allowed: standing.allowed,
            remaining: standing.remaining,
            retry_ms: standing.retry,
            reset_ms: standing.reset,
        }
    }
}

impl From<Refused> for CounterError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::InvalidKey => Self::InvalidKey,
            Refused::InvalidRule => Self::InvalidRule,
            Refused::Full => Self::Full,
        }
    }
}
