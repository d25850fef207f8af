//! Phase `error-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome};
use crate::phase::Phase;
use crate::plugin::bindings::error_filter::{ErrorVerdict, Failure};
use crate::plugin::configuration::ConfigId;
use crate::plugin::convert;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `error-filter.on-error`.
pub(in crate::plugin) struct ErrorFilter;

impl Hook for ErrorFilter {
    type Params = (u32, Failure);
    type Returned = (ErrorVerdict,);

    const PHASE: Phase = Phase::Error;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.error
    }

    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params {
        (config.number(), convert::trouble(exchange.trouble.as_ref()))
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        match verdict {
            ErrorVerdict::Next => Ok(Outcome::Next),
            ErrorVerdict::Retry => Ok(Outcome::Retry),
            ErrorVerdict::Respond(response) => convert::response(response).map(Outcome::Respond),
        }
    }
}
