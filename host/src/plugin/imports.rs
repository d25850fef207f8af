//! The host functions, one file per WIT interface. Each one first takes its share of the call's host-call
//! budget; what the guest may be told is a value, and an error of the function itself ends the call. None
//! waits and none panics.

mod log;
mod request;
mod response;

use super::bindings::types;
use super::store::State;

impl types::Host for State {}
