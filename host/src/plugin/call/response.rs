//! Phase `response-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome, judge};
use crate::phase::Phase;
use crate::plugin::bindings::types::Verdict;
use crate::plugin::configuration::ConfigId;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `response-filter.on-response`.
pub(in crate::plugin) struct ResponseFilter;

impl Hook for ResponseFilter {
    type Params = (u32,);
    type Returned = (Verdict,);

    const PHASE: Phase = Phase::Response;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.response
    }

    fn params(config: ConfigId, _: &Exchange) -> Self::Params {
        (config.number(),)
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        judge(verdict)
    }
}
