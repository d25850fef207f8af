//! Names that need no DNS: those of `/etc/hosts`, and `localhost`. Knows nothing of upstreams.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_resolver::Hosts;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};

/// The names of this machine.
#[derive(Debug)]
pub(super) struct HostsFile(Hosts);

impl HostsFile {
    /// Reads `/etc/hosts`. Where it can't be read, only `localhost` is known.
    pub(super) fn of_system() -> Self {
        let hosts = Hosts::from_system().unwrap_or_else(|error| {
            tracing::warn!(%error, "hosts file not read");
            Hosts::default()
        });
        Self(hosts)
    }

    /// The addresses of a name, IPv4 first; `None` for a name that DNS has to be asked for.
    pub(super) fn addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        let mut addresses = Vec::new();
        if let Ok(query) = Name::from_str_relaxed(name) {
            for family in [RecordType::A, RecordType::AAAA] {
                let lookup = self.0.lookup_static_host(&Query::query(query.clone(), family));
                let records = lookup.iter().flat_map(|lookup| lookup.answers());
                for address in records.filter_map(|record| record.data.ip_addr()) {
                    if !addresses.contains(&address) {
                        addresses.push(address);
                    }
                }
            }
        }
        // RFC 6761, section 6.3: never asked of a name server.
        if addresses.is_empty() && (name == "localhost" || name.ends_with(".localhost")) {
            addresses = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        }
        (!addresses.is_empty()).then_some(addresses)
    }
}

#[cfg(test)]
impl HostsFile {
    pub(super) fn parse(text: &str) -> Self {
        let mut hosts = Hosts::default();
        hosts.read_hosts_conf(text.as_bytes()).expect("a hosts file");
        Self(hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&[&str]>) {
        let hosts = HostsFile::parse(
            "# names\n::1 ip6 both # here\n10.0.0.1\tboth Upper.test my_db\n10.0.0.2 both\n10.0.0.1 both\nx y\n",
        );
        let expected =
            expected.map(|list| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>());
        assert_eq!(hosts.addresses(name), expected, "{name}");
    }

    #[test]
    fn names_of_the_machine() {
        check("both", Some(&["10.0.0.1", "10.0.0.2", "::1"]));
        check("upper.test", Some(&["10.0.0.1"]));
        check("my_db", Some(&["10.0.0.1"]));
        check("ip6", Some(&["::1"]));
        check("localhost", Some(&["127.0.0.1", "::1"]));
        check("a.localhost", Some(&["127.0.0.1", "::1"]));
        check("y", None);
        check("here", None);
        check("other.test", None);
    }

    #[test]
    fn the_file_wins_over_the_rule_for_localhost() {
        let hosts = HostsFile::parse("127.0.0.2 localhost\n");
        assert_eq!(hosts.addresses("localhost"), Some(vec!["127.0.0.2".parse().unwrap()]));
    }
}
