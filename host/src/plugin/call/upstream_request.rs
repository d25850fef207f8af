//! Phase `upstream-request-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome, judge};
use crate::phase::Phase;
use crate::plugin::bindings::types::Verdict;
use crate::plugin::bindings::upstream_request_filter::Attempt;
use crate::plugin::configuration::ConfigId;
use crate::plugin::convert;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `upstream-request-filter.on-upstream-request`.
pub(in crate::plugin) struct UpstreamRequestFilter;

impl Hook for UpstreamRequestFilter {
    type Params = (u32, Attempt);
    type Returned = (Verdict,);

    const PHASE: Phase = Phase::UpstreamRequest;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.upstream_request
    }

    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params {
        (config.number(), convert::attempt(exchange.attempt.as_ref()))
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        judge(verdict)
    }
}
