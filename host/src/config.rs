//! The configuration: files → raw types → the checked model. Only [`model`] leaves this module. Knows no
//! Wasmtime, no Pingora and no tokio.

pub mod diagnostic;
pub mod model;
