//! Edgewright, a programmable edge proxy: Pingora takes the traffic, WebAssembly components decide what
//! happens to it. The modules below are in the order of the layers, from the bottom up; the map is
//! `ARCHITECTURE.md`, and a test holds the layers.

pub mod cookie;
pub mod ids;
pub mod log_field;
pub mod phase;
pub mod target;

pub mod config;

pub mod observe;

pub mod listener;
pub mod plugin;
pub mod route;
pub mod upstream;

pub mod snapshot;

pub mod proxy;

pub mod control;

pub mod cli;
pub mod server;
