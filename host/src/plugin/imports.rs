//! The host functions, one file per WIT interface. Each one first takes its share of the call's host-call
//! budget; what the guest may be told is a value, and an error of the function itself ends the call. None
//! but `http-client` waits, and none panics.

mod counter;
mod http_client;
mod kv;
mod log;
mod metrics;
mod request;
mod response;

use super::bindings::types;
use super::store::State;

impl types::Host for State {}

/// For an import that the contract check should have refused.
fn not_granted() -> wasmtime::Error {
    wasmtime::Error::msg("a capability was used that is not granted")
}
