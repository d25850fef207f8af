//! Phase `request-body-filter`.

use wasmtime::component::TypedFunc;

use super::{Hook, Outcome, judge_body};
use crate::phase::Phase;
use crate::plugin::bindings::types::{BodyVerdict, Chunk};
use crate::plugin::configuration::ConfigId;
use crate::plugin::convert;
use crate::plugin::exchange::Exchange;
use crate::plugin::instance::Functions;

/// WIT `request-body-filter.on-request-body`.
pub(in crate::plugin) struct RequestBodyFilter;

impl Hook for RequestBodyFilter {
    type Params = (u32, Chunk);
    type Returned = (BodyVerdict,);

    const PHASE: Phase = Phase::RequestBody;

    fn function(functions: &Functions) -> Option<TypedFunc<Self::Params, Self::Returned>> {
        functions.request_body
    }

    fn params(config: ConfigId, exchange: &Exchange) -> Self::Params {
        (config.number(), convert::chunk(exchange.piece.as_ref()))
    }

    fn outcome((verdict,): Self::Returned) -> Result<Outcome, String> {
        judge_body(verdict)
    }
}
