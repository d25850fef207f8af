//! The kit of the end-to-end tests: the real proxy as a process, scripted origins, raw clients and a name
//! server, all on loopback. Knows nothing of the proxy's code: what it can't see from outside, a user can't
//! see either.
//!
//! Everything here panics where a test should fail, with what was expected and what came.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

pub mod client;
pub mod component;
pub mod dns;
pub mod grpc_origin;
pub mod h2c;
pub mod load;
pub mod message;
pub mod metrics;
pub mod modern_origin;
pub mod origin;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod setup;
pub mod tls;
pub mod wait;
pub mod wire;

pub use client::{Ask, Connection, ask, get};
pub use component::{Component, guest, plugin};
pub use dns::{Answer, Dns};
pub use load::Load;
pub use message::{Head, Received, Response};
pub use metrics::Metrics;
pub use origin::{Gate, Origin};
pub use process::{Finished, edgewright};
pub use proxy::Proxy;
pub use setup::Setup;
pub use tls::{Authority, TlsClient};
pub use wait::{DEADLINE, wait_for, wait_for_value};
