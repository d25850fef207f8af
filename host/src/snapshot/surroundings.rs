//! What plugins that call are surrounded by: the host's look-ups, and the ends that are its own. Must not know which
//! plugins do.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use crate::config::model::Config;
use crate::plugin::{Names, Surroundings};
use crate::upstream::Lookups;

struct Looked(Lookups);

impl Names for Looked {
    fn addresses<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = Vec<IpAddr>> + Send + 'a>> {
        Box::pin(self.0.addresses(name))
    }
}

/// Those of a configuration.
pub(super) fn of(config: &Config) -> Surroundings {
    let listeners = config.listeners.iter().map(|listener| listener.address);
    Surroundings {
        names: Box::new(Looked(Lookups::new(&config.dns))),
        own: listeners.chain(config.admin.iter().map(|admin| admin.address)).collect(),
    }
}
