//! Phase `request-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome, judge};
use crate::phase::Phase;
use crate::plugin::bindings::types::Verdict;
use crate::plugin::configuration::ConfigId;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `request-filter.on-request`.
pub(in crate::plugin) struct RequestFilter;

impl Hook for RequestFilter {
    type Params = (u32,);
    type Returned = (Verdict,);

    const PHASE: Phase = Phase::Request;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.request
    }

    fn params(config: ConfigId, _: &Exchange) -> Self::Params {
        (config.number(),)
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        judge(verdict)
    }
}
