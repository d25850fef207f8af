//! Write Edgewright plugins in Rust.
//!
//! A plugin is a type that implements [`Plugin`] under [`#[plugin]`](plugin): one method per phase of a
//! request. A phase whose method is left out is not exported, and costs nothing.
//!
//! ```
//! use edgewright_sdk::prelude::*;
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields, rename_all = "kebab-case")]
//! struct Config {
//!     header: String,
//! }
//!
//! struct Stamp {
//!     config: Config,
//! }
//!
//! #[plugin]
//! impl Plugin for Stamp {
//!     type Config = Config;
//!
//!     fn configure(config: Config) -> Result<Self, String> {
//!         Ok(Self { config })
//!     }
//!
//!     fn on_request(&self, request: &mut Request) -> Verdict {
//!         if request.header("x-boom").is_some() {
//!             return Response::new(403).header("content-type", "text/plain").body("no").into();
//!         }
//!         if let Err(refused) = request.set_header(&self.config.header, "1") {
//!             log::warn!("`{}` was not set: {refused}", self.config.header);
//!         }
//!         Verdict::Next
//!     }
//! }
//!
//! // On any other target than wasm32, the same code runs against a test double:
//! use edgewright_sdk::testing;
//!
//! let stamp: Stamp = testing::configure(r#"{ "header": "x-stamp" }"#).unwrap();
//! let mut exchange = testing::Exchange::get("/");
//! assert_eq!(exchange.on_request(&stamp).verdict, Verdict::Next);
//! assert_eq!(exchange.request_header("x-stamp").unwrap(), "1");
//! ```
//!
//! Nothing here panics when the proxy refuses something: every setter returns the refusal.
//!
//! Must not know how the proxy works inside: it speaks the contract in `wit/` and no more.

#![deny(missing_docs)]

mod attempt;
mod body;
mod bytes;
mod configuration;
mod entry;
mod error;
mod header;
mod host;
mod plugin;
mod request;
mod response;
mod tls;
mod verdict;

pub mod counter;
pub mod http_client;
pub mod kv;
pub mod log;
pub mod metrics;
pub mod query;

#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod bindings;
#[doc(hidden)]
pub mod export;

pub use attempt::{Attempt, ErrorVerdict, Failure};
pub use body::{BodyVerdict, Chunk};
pub use bytes::Bytes;
pub use edgewright_sdk_macros::plugin;
pub use entry::Entry;
pub use error::{
    AttributeError, CounterError, HashKeyError, HeaderError, HttpError, KvError, MetricError, StatusError,
    TargetError, UpstreamError,
};
pub use header::Header;
pub use plugin::Plugin;
pub use request::Request;
pub use response::ResponseHead;
pub use tls::TlsInfo;
pub use verdict::{Response, Verdict};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// All that a plugin usually needs: `use edgewright_sdk::prelude::*;`
pub mod prelude {
    pub use crate::{
        Attempt, BodyVerdict, Bytes, Chunk, Entry, ErrorVerdict, Failure, Header, Plugin, Request, Response,
        ResponseHead, Verdict, log, plugin,
    };
}
