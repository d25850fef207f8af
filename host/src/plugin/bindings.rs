//! The only `bindgen!`: the host's side of `wit/`, as Rust types and one trait per imported interface.
//! Nothing else is here; the traits are implemented in [`super::imports`].
#![allow(
    missing_docs,
    dead_code,
    unreachable_pub,
    clippy::all,
    reason = "generated; the WIT files are documented"
)]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "edgewright:plugin/plugin",
    // A host call may end the call of the guest: its budget of host calls is counted.
    imports: {
        // Waits: on a fiber, without holding its worker.
        "edgewright:plugin/http-client.send": async | trappable,
        default: trappable,
    },
    additional_derives: [PartialEq],
});

pub use edgewright::plugin::{counter, http_client, kv, log, metrics, request, response, types};
pub use exports::edgewright::plugin::{error_filter, upstream_request_filter};
