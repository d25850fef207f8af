//! Named groups of peers: resolved in the background, picked without a look-up or a lock. Knows no routes
//! and no plugins.
//!
//! [`Upstreams`] are what a configuration names; [`Upstream::pick`] is the request path. A [`Resolver`]
//! keeps the peers of names current: it alone asks DNS and it alone changes what `pick` sees. [`Checks`] ask peers
//! whether they are well.

mod balance;
mod checks;
mod clock;
mod endpoint;
mod gate;
mod hold;
mod hosts_file;
mod lookups;
pub mod metrics;
mod name;
mod own_ends;
mod peer;
mod resolver;
mod retry;
mod set;
mod source;
mod speech;
mod state;
mod status;

pub use balance::Ask;
pub use checks::Checks;
pub use endpoint::Endpoint;
pub use hold::Hold;
pub use lookups::Lookups;
pub use peer::Peer;
pub use resolver::Resolver;
pub use retry::Retrying;
pub use set::{Upstream, Upstreams};
pub use status::PeerStatus;

/// Why an upstream has no peer for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoPeer {
    /// The first look-up is still under way.
    #[error("the upstream's name is not resolved yet")]
    NotResolved,
    /// DNS says that the name does not exist.
    #[error("the upstream's name does not exist")]
    NoSuchName,
    /// DNS says that the name exists, but has no addresses.
    #[error("the upstream's name has no addresses")]
    NoAddresses,
    /// It leads back to the proxy.
    #[error("the upstream's peers are the proxy itself")]
    OwnAddress,
    /// DNS did not answer, or said that it could not.
    #[error("the upstream's name could not be resolved")]
    ResolverFailed,
    /// As many requests as may be are on their way already, and it had no place in time.
    #[error("the upstream has as many requests as it may")]
    Full,
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
            NoPeer::NoAddresses => "no-addresses",
            NoPeer::OwnAddress => "own-address",
            NoPeer::ResolverFailed => "resolver-failed",
            NoPeer::Full => "full",
            NoPeer::AllTried => "all-tried",
        }
    }
}
