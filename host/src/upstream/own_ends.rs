//! The ends that the proxy itself listens on: a peer that is one of them would have each request come back, and go out
//! again, until nothing is left. Asked whenever peers are found, never for a request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::config::model::Config;
use crate::config::overlap;

/// Listeners and the admin end.
#[derive(Debug, Default)]
pub(super) struct OwnEnds(Vec<SocketAddr>);

impl OwnEnds {
    pub(super) fn of(config: &Config) -> Self {
        let listeners = config.listeners.iter().map(|listener| listener.address);
        Self(listeners.chain(config.admin.iter().map(|admin| admin.address)).collect())
    }

    /// Whether a connection to `peer` comes to the proxy itself.
    pub(super) fn has(&self, peer: SocketAddr) -> bool {
        // The machine is asked only for ports of its own listeners on all addresses.
        self.0.iter().any(|end| {
            overlap::comes_to(peer, *end) || (overlap::may_come_to(peer, *end) && is_of_machine(peer.ip()))
        })
    }
}

/// Whether some interface has the address: only then can it be bound. Machines may be set up to bind any
/// (`ip_nonlocal_bind`); there, it is the one that connections to it would come from.
fn is_of_machine(ip: IpAddr) -> bool {
    // Never an interface's: kept for documentation (RFC 5737 and RFC 3849).
    let (nobody, unspecified): (IpAddr, IpAddr) = match ip {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::UNSPECIFIED.into()),
        IpAddr::V6(_) => {
            (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(), Ipv6Addr::UNSPECIFIED.into())
        }
    };
    let binds = |ip: IpAddr| UdpSocket::bind((ip, 0));
    if binds(nobody).is_err() {
        return binds(ip).is_ok();
    }
    // Sends nothing.
    let source = binds(unspecified).and_then(|socket| {
        socket.connect((ip, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_ends_are_known_by_any_address_of_the_machine() {
        let ends = |list: &[&str]| OwnEnds(list.iter().map(|end| end.parse().unwrap()).collect());
        let check = |end: &str, peer: &str, expected: bool| {
            assert_eq!(ends(&["127.0.0.9:9", end]).has(peer.parse().unwrap()), expected, "{peer} from {end}");
        };
        check("127.0.0.1:80", "127.0.0.1:80", true);
        check("127.0.0.1:80", "127.0.0.2:80", false);
        check("127.0.0.1:80", "127.0.0.1:81", false);
        check("0.0.0.0:80", "127.0.0.3:80", true);
        check("[::]:80", "[::ffff:127.0.0.3]:80", true);
        // One that no machine has.
        check("0.0.0.0:80", "192.0.2.7:80", false);
        check("[::]:80", "192.0.2.7:80", false);
        assert!(!OwnEnds::default().has("127.0.0.1:80".parse().unwrap()));
    }

    #[test]
    fn the_machine_knows_its_addresses() {
        assert!(is_of_machine(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_of_machine(Ipv4Addr::new(192, 0, 2, 7).into()));
    }
}
