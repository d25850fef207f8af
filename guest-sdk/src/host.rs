//! The way to the proxy: the imports of the component, or the test double everywhere else. The two have the
//! same functions. Must not know what a plugin is.

#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
pub(crate) use component::{counter, http_client, kv, log, metrics, request, response};

#[cfg(not(target_arch = "wasm32"))]
mod double;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use double::{counter, http_client, kv, log, metrics, request, response};
