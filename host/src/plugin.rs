//! The plugin runtime: components in, decisions out. Knows no Pingora (heads come through
//! [`exchange::Heads`]), no routes and no upstreams; Wasmtime types never leave it.
//!
//! [`Engine`] is made once, [`Plugin::load`] turns a file into a plugin, [`Plugin::configure`] has it take a
//! configuration, and a [`Chain`] of plugins is lent a request in each phase.

// How a plugin comes to be.
mod artifact;
mod blueprint;
mod body;
mod configuration;
mod contract;
mod engine;
mod epoch;
mod inspect;
mod loaded;
mod probe;

// What a plugin sees.
mod bindings;
mod capability;
mod convert;
mod head;
mod imports;
mod linker;
mod target;
mod voice;
mod wasi;

// What bounds it.
mod fiber;
mod instance;
mod limits;
mod pool;
mod quarantine;
mod setup;
mod store;
mod warm;

// How it is called.
mod at_once;
mod call;
mod chain;
pub mod exchange;
mod failure;
mod fit;
mod metrics;
mod printable;
mod vitals;

mod error;

pub use artifact::{COMPILE_ARGUMENT, compile_child};
pub use body::BodyPlan;
pub use capability::{Capability, Names, Surroundings};
pub use chain::Chain;
pub use configuration::ConfigId;
pub use contract::{Access, Import, Kind, PACKAGE};
pub use engine::{Compiler, Engine, EngineOptions};
pub use epoch::{TICK, Ticker, Ticking};
pub use error::{ConfigureError, EngineError, LoadError, LoadReason};
pub use exchange::Lent;
pub use fit::{Fit, Traits, Unsuitable};
pub use inspect::{Inspection, inspect};
pub use loaded::{Plugin, PluginSpec};
pub use pool::Census;
pub use printable::{is_printable, printable};
pub use vitals::{PhaseVitals, Vitals};

/// What fuzz targets reach.
#[cfg(fuzzing)]
pub mod fuzzing {
    use super::bindings::types;
    use super::exchange::PluginResponse;

    /// The response of a guest, checked as any other.
    ///
    /// # Errors
    /// It breaks the contract.
    pub fn response(
        status: u16,
        headers: Vec<(String, Vec<u8>)>,
        body: Vec<u8>,
    ) -> Result<PluginResponse, String> {
        let headers = headers.into_iter().map(|(name, value)| types::Header { name, value }).collect();
        super::convert::response(types::Response { status, headers, body })
    }
}
