//! The generated bindings of the plugin contract: the only `generate!`, and the only place with unsafe code.
//! One module per world, so that a component exports just the phases whose macro its crate calls. Must not
//! hold anything written by hand.

#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated: calls across the component boundary pass pointers"
)]

/// What a plugin imports. Its types are those of the other modules.
pub mod imports {
    wit_bindgen::generate!({
        world: "imports",
        path: "../wit",
        generate_all,
    });
}

/// Exports `lifecycle`.
pub mod lifecycle {
    wit_bindgen::generate!({
        world: "lifecycle-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::lifecycle",
    });
}

/// Exports `request-filter`.
pub mod request_filter {
    wit_bindgen::generate!({
        world: "request-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::request_filter",
    });
}

/// Exports `response-filter`.
pub mod response_filter {
    wit_bindgen::generate!({
        world: "response-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/response@0.1.0": crate::bindings::imports::edgewright::plugin::response,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::response_filter",
    });
}

/// Exports `log-filter`.
pub mod log_filter {
    wit_bindgen::generate!({
        world: "log-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/response@0.1.0": crate::bindings::imports::edgewright::plugin::response,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::log_filter",
    });
}

/// Exports `upstream-request-filter`.
pub mod upstream_request_filter {
    wit_bindgen::generate!({
        world: "upstream-request-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::upstream_request_filter",
    });
}

/// Exports `error-filter`.
pub mod error_filter {
    wit_bindgen::generate!({
        world: "error-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::error_filter",
    });
}

/// Exports `request-body-filter`.
pub mod request_body_filter {
    wit_bindgen::generate!({
        world: "request-body-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::request_body_filter",
    });
}

/// Exports `response-body-filter`.
pub mod response_body_filter {
    wit_bindgen::generate!({
        world: "response-body-filter-world",
        path: "../wit",
        with: {
            "edgewright:plugin/types@0.1.0": crate::bindings::imports::edgewright::plugin::types,
            "edgewright:plugin/request@0.1.0": crate::bindings::imports::edgewright::plugin::request,
            "edgewright:plugin/response@0.1.0": crate::bindings::imports::edgewright::plugin::response,
            "edgewright:plugin/log@0.1.0": crate::bindings::imports::edgewright::plugin::log,
        },
        pub_export_macro: true,
        default_bindings_module: "::edgewright_sdk::bindings::response_body_filter",
    });
}
