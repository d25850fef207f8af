//! The path of a request: Pingora's hooks, one file per phase. Knows no raw configuration, no control and no
//! Wasmtime.
