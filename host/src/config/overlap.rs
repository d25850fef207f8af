//! Which addresses are one and the same end of this machine. Looks nothing up, and knows no interfaces: an
//! address of the machine that is neither named nor loopback is not seen as its own.

use std::net::{IpAddr, SocketAddr};

use super::model::{PeerAddress, PeerHost};

/// Whether two ends can't both listen: one address, or one of them is all addresses. `[::]` takes IPv4 too.
pub(crate) fn clash(a: SocketAddr, b: SocketAddr) -> bool {
    a.port() == b.port() && (takes(a.ip(), b.ip()) || takes(b.ip(), a.ip()))
}

/// Whether a connection to `peer` comes to what listens on `listener`.
pub(crate) fn reaches(peer: &PeerAddress, listener: SocketAddr) -> bool {
    let local = listener.ip().to_canonical();
    peer.port == listener.port()
        && match &peer.host {
            PeerHost::Ip(ip) => match ip.to_canonical() {
                // To connect to the unspecified address is to connect to loopback.
                ip if ip.is_unspecified() => takes(local, loopback_of(ip)),
                ip if ip.is_loopback() => takes(local, ip),
                ip => ip == local,
            },
            // RFC 6761, section 6.3: always loopback, of both families.
            PeerHost::Name(name) if &**name == "localhost" || name.ends_with(".localhost") => {
                local.is_unspecified() || LOOPBACKS.contains(&local)
            }
            PeerHost::Name(_) => false,
        }
}

/// Whether a connection to the address comes to what listens on `listener`.
pub(crate) fn comes_to(peer: SocketAddr, listener: SocketAddr) -> bool {
    reaches(&PeerAddress { host: PeerHost::Ip(peer.ip()), port: peer.port() }, listener)
}

/// Whether it does if this machine has the address.
pub(crate) fn may_come_to(peer: SocketAddr, listener: SocketAddr) -> bool {
    peer.port() == listener.port() && listener.ip().is_unspecified() && takes(listener.ip(), peer.ip())
}

const LOOPBACKS: [IpAddr; 2] =
    [IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)];

fn loopback_of(ip: IpAddr) -> IpAddr {
    let [v4, v6] = LOOPBACKS;
    if ip.is_ipv4() { v4 } else { v6 }
}

/// Whether what listens on `local` takes connections to `other`.
fn takes(local: IpAddr, other: IpAddr) -> bool {
    let (local, other) = (local.to_canonical(), other.to_canonical());
    local == other || (local.is_unspecified() && (local.is_ipv6() || other.is_ipv4()))
}

#[cfg(test)]
mod tests {
    use super::super::address;
    use super::*;

    #[test]
    fn ends_that_take_the_same_connections_clash() {
        let check = |a: &str, b: &str, expected: bool| {
            let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!((clash(a, b), clash(b, a)), (expected, expected), "{a} and {b}");
        };
        check("127.0.0.1:80", "127.0.0.1:80", true);
        check("127.0.0.1:80", "127.0.0.1:81", false);
        check("127.0.0.1:80", "127.0.0.2:80", false);
        check("0.0.0.0:80", "10.0.0.1:80", true);
        check("0.0.0.0:80", "[::1]:80", false);
        check("[::]:80", "0.0.0.0:80", true);
        check("[::]:80", "127.0.0.1:80", true);
        check("[::]:80", "[::1]:80", true);
        check("[::ffff:10.0.0.1]:80", "10.0.0.1:80", true);
        check("[::ffff:0.0.0.0]:80", "10.0.0.1:80", true);
        check("[::ffff:10.0.0.1]:80", "10.0.0.2:80", false);
    }

    #[test]
    fn peers_that_are_the_proxy_itself() {
        let check = |peer: &str, listener: &str, expected: bool| {
            let address = address::peer(peer).unwrap();
            assert_eq!(reaches(&address, listener.parse().unwrap()), expected, "{peer} from {listener}");
        };
        check("127.0.0.1:80", "127.0.0.1:80", true);
        check("127.0.0.1:80", "127.0.0.1:81", false);
        check("127.0.0.2:80", "127.0.0.1:80", false);
        check("127.0.0.2:80", "0.0.0.0:80", true);
        check("127.0.0.1:80", "[::]:80", true);
        check("[::1]:80", "[::]:80", true);
        check("[::1]:80", "0.0.0.0:80", false);
        check("[::ffff:127.0.0.1]:80", "127.0.0.1:80", true);
        check("127.0.0.1:80", "[::ffff:127.0.0.1]:80", true);
        check("0.0.0.0:80", "127.0.0.1:80", true);
        check("0.0.0.0:80", "0.0.0.0:80", true);
        check("0.0.0.0:80", "10.0.0.7:80", false);
        check("[::]:80", "[::1]:80", true);
        check("[::]:80", "127.0.0.1:80", false);
        check("10.0.0.7:80", "10.0.0.7:80", true);
        // It may be another machine's.
        check("10.0.0.7:80", "0.0.0.0:80", false);
        check("localhost:80", "127.0.0.1:80", true);
        check("localhost:80", "[::1]:80", true);
        check("localhost:80", "0.0.0.0:80", true);
        check("localhost:80", "10.0.0.7:80", false);
        check("api.internal:80", "0.0.0.0:80", false);
    }
}
