//! One look-up: which servers are asked, and what their answers mean. Knows no schedule and no upstreams.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::rdata::SRV;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{Resolver, TokioResolver};

use crate::config::model::Dns;
use crate::upstream::name::{Family, Outcome};

/// Name servers, asked one after the other: a server that fails or refuses hands over to the next. (The
/// library would take the first server's refusal for the answer.)
#[derive(Debug)]
pub(in crate::upstream) struct Servers {
    each: Vec<TokioResolver>,
    /// The one that answered last, asked first.
    preferred: AtomicUsize,
    /// For one server, with the search list, aliases and TCP.
    limit: Duration,
}

/// Attempts' worth of time that one server may take for a question in all.
const ATTEMPTS: u32 = 3;

impl Servers {
    /// The servers of the configuration, or else those of `/etc/resolv.conf`; the one of this machine
    /// where that can't be read, as resolv.conf(5) has it.
    pub(in crate::upstream) fn of(dns: &Dns) -> Self {
        let own = dns.servers.as_ref().map(|servers| {
            let servers = servers.iter().map(|server| {
                let (mut udp, mut tcp) = (ConnectionConfig::udp(), ConnectionConfig::tcp());
                udp.port = server.port();
                tcp.port = server.port();
                NameServerConfig::new(server.ip(), true, vec![udp, tcp])
            });
            (Vec::new(), servers.collect::<Vec<_>>(), ResolverOpts::default())
        });
        let (search, servers, mut options) = own.unwrap_or_else(of_system);
        options.timeout = dns.timeout;
        // Asking again is the schedule's affair, remembering the answers', the hosts file was read.
        options.attempts = 0;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        let each = servers.into_iter().filter_map(|server| {
            let config = ResolverConfig::from_parts(None, search.clone(), vec![server]);
            let builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
            let resolver = builder.with_options(options.clone()).build();
            resolver.inspect_err(|error| tracing::warn!(%error, "name server not usable")).ok()
        });
        Self {
            each: each.collect(),
            preferred: AtomicUsize::new(0),
            limit: dns.timeout.saturating_mul(ATTEMPTS),
        }
    }

    /// Asks for one kind of addresses of a name.
    pub(in crate::upstream) async fn ask(&self, name: &str, family: Family) -> Outcome {
        match self.look_up(name, record_type(family)).await {
            Ok(lookup) => addresses(&lookup, family),
            Err(outcome) => outcome,
        }
    }

    /// The SRV records of a service, with the lowest TTL of the answer.
    ///
    /// # Errors
    /// There are none, or no answer.
    pub(super) async fn services(&self, name: &str) -> Result<(Vec<SRV>, Duration), Outcome> {
        let lookup = self.look_up(name, RecordType::SRV).await?;
        let records = lookup.answers().iter().filter_map(|record| match &record.data {
            RData::SRV(service) => Some(service.clone()),
            _ => None,
        });
        Ok((records.collect(), ttl(&lookup)))
    }

    async fn look_up(&self, name: &str, kind: RecordType) -> Result<Lookup, Outcome> {
        let Ok(mut name) = Name::from_str_relaxed(name) else {
            return Err(Outcome::Failed("not a name that DNS can be asked for".to_owned()));
        };
        // Only bare names are looked for in the search list.
        name.set_fqdn(name.num_labels() > 1);
        let first = self.preferred.load(Ordering::Relaxed);
        let mut failure = "no name server".to_owned();
        for offset in 0..self.each.len() {
            let index = (first + offset) % self.each.len();
            let Some(server) = self.each.get(index) else { break };
            let lookup = server.lookup(name.clone(), kind);
            match tokio::time::timeout(self.limit, lookup).await {
                Ok(result) => match answer(result) {
                    Err(Outcome::Failed(error)) => failure = error,
                    answered => {
                        self.preferred.store(index, Ordering::Relaxed);
                        return answered;
                    }
                },
                Err(_) => failure = "request timed out".to_owned(),
            }
        }
        Err(Outcome::Failed(failure))
    }
}

fn of_system() -> (Vec<Name>, Vec<NameServerConfig>, ResolverOpts) {
    match read_system_conf() {
        Ok((config, options)) => {
            let (_, search, servers) = config.into_parts();
            (search, servers, options)
        }
        Err(error) => {
            tracing::warn!(%error, "name servers of the system not read");
            let local = std::net::Ipv4Addr::LOCALHOST.into();
            (Vec::new(), vec![NameServerConfig::udp_and_tcp(local)], ResolverOpts::default())
        }
    }
}

fn record_type(family: Family) -> RecordType {
    match family {
        Family::V4 => RecordType::A,
        Family::V6 => RecordType::AAAA,
        Family::Service => RecordType::SRV,
    }
}

fn answer(result: Result<Lookup, NetError>) -> Result<Lookup, Outcome> {
    match result {
        Ok(lookup) => Ok(lookup),
        Err(NetError::Dns(DnsError::NoRecordsFound(no))) => {
            let ttl = no.negative_ttl.map(|seconds| Duration::from_secs(seconds.into()));
            Err(match no.response_code {
                ResponseCode::NXDomain => Outcome::NoName { ttl },
                // A referral: this server does not resolve for others, so it said nothing of the name.
                _ if no.ns.is_some() && no.soa.is_none() => Outcome::Failed("referral".to_owned()),
                _ => Outcome::NoRecords { ttl },
            })
        }
        Err(error) => Err(Outcome::Failed(error.to_string())),
    }
}

fn addresses(lookup: &Lookup, family: Family) -> Outcome {
    let is_wanted = |record_type| record_type == self::record_type(family);
    let records = lookup.answers().iter().filter(|record| is_wanted(record.record_type()));
    // In a fixed order, so that servers that rotate their answers don't change the peers each time.
    let addresses: BTreeSet<_> = records.filter_map(|record| record.data.ip_addr()).collect();
    if addresses.is_empty() {
        return Outcome::NoRecords { ttl: None };
    }
    Outcome::Found { addresses: addresses.into_iter().collect(), ttl: ttl(lookup) }
}

/// Aliases on the way count: the answer is as old as its oldest part.
fn ttl(lookup: &Lookup) -> Duration {
    let ttl = lookup.answers().iter().map(|record| record.ttl).min().unwrap_or_default();
    Duration::from_secs(ttl.into())
}
