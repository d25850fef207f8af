//! Look-ups of names that no upstream has, when somebody asks: for plugins that call. Never on the path of a
//! request that does not wait for its plugin. Must not know who asks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::hosts_file::HostsFile;
use super::name::{Family, Outcome};
use super::resolver::Servers;
use crate::config::model::Dns;

/// Names that are remembered: those of the manifests, which are few.
const MAX_NAMES: usize = 1_000;

/// Addresses, and until when they hold.
type Answer = (Instant, Vec<IpAddr>);

/// Looks names up in `/etc/hosts` and by DNS, and remembers answers for their time.
#[derive(Debug)]
pub struct Lookups {
    dns: Dns,
    /// Made at the first question: most proxies have none.
    sources: OnceLock<(HostsFile, Servers)>,
    known: Mutex<HashMap<Box<str>, Answer>>,
}

impl Lookups {
    pub fn new(dns: &Dns) -> Self {
        Self { dns: dns.clone(), sources: OnceLock::new(), known: Mutex::default() }
    }

    /// The addresses of a name, IPv4 first; none where it has none, or nobody says.
    pub async fn addresses(&self, name: &str) -> Vec<IpAddr> {
        if let Some(addresses) = self.known(name) {
            return addresses;
        }
        let (hosts, servers) = self.sources.get_or_init(|| (HostsFile::of_system(), Servers::of(&self.dns)));
        if let Some(addresses) = hosts.addresses(name) {
            return addresses;
        }
        let answers = tokio::join!(servers.ask(name, Family::V4), servers.ask(name, Family::V6));
        let mut all = Vec::new();
        let mut lifetime = self.dns.max_ttl;
        for answer in [answers.0, answers.1] {
            match answer {
                Outcome::Found { addresses, ttl } => {
                    all.extend(addresses);
                    lifetime = lifetime.min(ttl.max(self.dns.min_ttl));
                }
                Outcome::Service { .. } | Outcome::NoName { .. } | Outcome::NoRecords { .. } => {}
                Outcome::Failed(error) => tracing::debug!(name, error, "name not looked up"),
            }
        }
        if !all.is_empty() {
            self.remember(name, lifetime, &all);
        }
        all
    }

    fn known(&self, name: &str) -> Option<Vec<IpAddr>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, addresses) = known.get(name)?;
        (Instant::now() < *until).then(|| addresses.clone())
    }

    fn remember(&self, name: &str, lifetime: Duration, addresses: &[IpAddr]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        known.insert(name.into(), (Instant::now() + lifetime, addresses.to_vec()));
    }
}
