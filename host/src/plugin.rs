//! The plugin runtime: components in, decisions out. Knows no Pingora (heads come through
//! [`exchange::Heads`]), no routes and no upstreams; Wasmtime types never leave it.

pub mod exchange;
