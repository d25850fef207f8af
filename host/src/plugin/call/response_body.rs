//! Phase `response-body-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome, judge_body};
use crate::phase::Phase;
use crate::plugin::bindings::types::{BodyVerdict, Chunk};
use crate::plugin::configuration::ConfigId;
use crate::plugin::convert;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `response-body-filter.on-response-body`.
pub(in crate::plugin) struct ResponseBodyFilter;

impl Hook for ResponseBodyFilter {
    type Params = (u32, Chunk);
    type Returned = (BodyVerdict,);

    const PHASE: Phase = Phase::ResponseBody;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.response_body
    }

    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params {
        (config.number(), convert::chunk(exchange.piece.as_ref()))
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        judge_body(verdict)
    }
}
