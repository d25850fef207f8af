//! The sockets of the listeners, as a reload sees them. Whoever has them is told here what is wanted.

use std::net::SocketAddr;

use crate::config::diagnostic::Diagnostic;

/// Puts new listeners into service, and takes those out that are not wanted any more. Dropped in its place: closes the
/// new ones.
pub type Switch = Box<dyn FnOnce() + Send>;

/// Whoever has them.
pub trait Sockets: Send {
    /// Opens what of these addresses is not open yet, without taking a connection.
    ///
    /// # Errors
    /// What can't be opened: then, nothing is.
    fn open(&self, wanted: &[SocketAddr]) -> Result<Switch, Vec<Diagnostic>>;
}
