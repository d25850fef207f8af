//! Phase `log-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome};
use crate::phase::Phase;
use crate::plugin::configuration::ConfigId;
use crate::plugin::convert::{self, FinishedEntry};
use crate::plugin::exchange::{self, Exchange};
use crate::plugin::instance::Functions;

/// WIT `log-filter.on-log`.
pub(in crate::plugin) struct LogFilter;

impl Hook for LogFilter {
    type Params = (u32, FinishedEntry);
    type Returned = ();

    const PHASE: Phase = Phase::Log;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.log
    }

    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params {
        let nothing = exchange::Entry::default();
        (config.number(), convert::entry(exchange.entry.as_ref().unwrap_or(&nothing)))
    }

    fn outcome((): Self::Returned) -> Result<Outcome, String> {
        Ok(Outcome::Next)
    }
}
