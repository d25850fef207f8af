//! The configuration: files → raw types → the checked model. Only [`model`] leaves this module, with
//! [`diagnostic`] for what is wrong. Knows no Wasmtime, no Pingora and no tokio.
//!
//! In the order in which a file meets them: it is read (`source`), parsed into a tree of places
//! (`syntax`), split into sections (`root`), each of which is read into its `raw` type in spite of
//! mistakes (`recover`) and then checked (`check`).

pub mod codes;
pub mod diagnostic;
pub mod model;

mod load;
mod proxy_flags;
mod render;

mod file_kind;
mod source;
mod syntax;

mod raw;
pub mod reach;
mod recover;
mod root;
mod scope;

mod address;
pub(crate) mod overlap;

mod check;
mod defaults;
mod json;
mod manifest;
mod scalar;
mod shown;
mod template;

mod example;
mod suggest;

pub(crate) use check::plugin_name;
pub use load::{admin_address, load};
pub(crate) use manifest::held as manifest_beside;
pub use proxy_flags::{ProxyFlags, for_proxy};
pub use render::{Color, render};

/// A configuration without errors.
#[derive(Debug, Clone)]
pub struct Checked {
    pub config: model::Config,
    /// What is worth a look.
    pub warnings: Vec<diagnostic::Diagnostic>,
}
