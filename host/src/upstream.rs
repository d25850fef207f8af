//! Named groups of peers: resolved in the background, picked without a look-up or a lock. Knows no routes
//! and no plugins.
//!
//! [`Upstreams`] are what a configuration names; [`Upstream::pick`] is the request path. A [`Resolver`]
//! keeps the peers of names current: it alone asks DNS and it alone changes what `pick` sees.

mod balance;
mod hosts_file;
pub mod metrics;
mod name;
mod peer;
mod resolver;
mod set;

pub use peer::Peer;
pub use resolver::Resolver;
pub use set::{Upstream, Upstreams};

/// Why an upstream has no peer for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoPeer {
    /// The first look-up is still under way.
    #[error("the upstream's name is not resolved yet")]
    NotResolved,
    /// DNS says that the name has no addresses.
    #[error("the upstream's name does not exist")]
    NoSuchName,
    /// DNS did not answer, or said that it could not.
    #[error("the upstream's name could not be resolved")]
    ResolverFailed,
    /// The request has tried every peer that there is.
    #[error("every peer of the upstream was tried")]
    AllTried,
}

impl NoPeer {
    /// The word in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            NoPeer::NotResolved => "not-resolved",
            NoPeer::NoSuchName => "no-such-name",
            NoPeer::ResolverFailed => "resolver-failed",
            NoPeer::AllTried => "all-tried",
        }
    }
}
