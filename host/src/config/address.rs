//! Addresses: what to listen on, which networks to trust, and peers. Looks nothing up.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;

use super::codes;
use super::diagnostic::Diagnostic;
use super::model::{PeerAddress, PeerHost};

/// An address to listen on: the machine's own, or all of them. `usual` is the port to suggest.
///
/// # Errors
/// It is no address with a port, or none that connections come to.
pub(crate) fn listen(text: &str, usual: u16) -> Result<SocketAddr, Diagnostic> {
    let address = socket(text, usual)?;
    let kind = match address.ip().to_canonical() {
        ip if ip.is_multicast() => "a multicast address",
        IpAddr::V4(ip) if ip.is_broadcast() => "the broadcast address",
        _ => return Ok(address),
    };
    let (port, any, family) = match address {
        SocketAddr::V4(_) => (address.port(), "0.0.0.0", "IPv4 address"),
        SocketAddr::V6(_) => (address.port(), "[::]", "address"),
    };
    Err(Diagnostic::error(codes::BAD_ADDRESS, format!("`{text}` is {kind}, which takes no connections"))
        .with_help(format!("`{any}:{port}` is every {family} of the machine")))
}

/// An IP address with a port: what to listen on, or a DNS server. `usual` is the port to suggest.
///
/// # Errors
/// It is something else; the help tells what is probably meant.
pub(crate) fn socket(text: &str, usual: u16) -> Result<SocketAddr, Diagnostic> {
    let error = match text.parse::<SocketAddr>() {
        // To listen there is to take any free port, which nobody would know of.
        Ok(address) if address.port() == 0 => {
            let fixed = SocketAddr::new(address.ip(), usual);
            return Err(Diagnostic::error(codes::BAD_ADDRESS, format!("`{text}` has port 0"))
                .with_help(format!("ports go from 1 to 65535: `{fixed}`")));
        }
        Ok(address) => return Ok(address),
        Err(_) => Diagnostic::error(codes::BAD_ADDRESS, format!("`{text}` is not an IP address with a port")),
    };
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let help = if !port.is_empty() && port.parse::<u16>().is_err() && !host.contains(':') {
        "ports go from 1 to 65535".to_owned()
    } else if host.is_empty() || host == "*" {
        let port = port.parse().unwrap_or(usual);
        format!("`0.0.0.0:{port}` is every IPv4 address of the machine, `127.0.0.1:{port}` the machine alone")
    } else if host == "localhost" {
        let port = port.parse().unwrap_or(usual);
        format!("write `127.0.0.1:{port}` or `[::1]:{port}`: names are not looked up here")
    } else if text.parse::<u16>().is_ok() {
        format!("for example `127.0.0.1:{text}`")
    } else if let Ok(ip) = text.parse::<IpAddr>() {
        format!("add the port: `{}`", SocketAddr::new(ip, usual))
    } else {
        format!("for example `127.0.0.1:{usual}` or `[::1]:{usual}`")
    };
    Err(error.with_help(help))
}

/// `10.0.0.0/8`, or a single address.
///
/// # Errors
/// It is something else.
pub(crate) fn network(text: &str) -> Result<IpNet, Diagnostic> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(IpNet::from(ip));
    }
    let refused = |help: String| {
        Diagnostic::error(codes::BAD_NETWORK, format!("`{text}` is not an IP address or network"))
            .with_help(help)
    };
    let network: IpNet = text
        .parse()
        .map_err(|_| refused("for example `10.0.0.0/8`, `127.0.0.1` or `fd00::/8`".to_owned()))?;
    if network.addr() != network.network() {
        // `10.1.2.3/8` is either a slip in the length or in the address: which one matters here.
        return Err(refused(format!("bits are set behind the prefix: `{}` is the network", network.trunc())));
    }
    Ok(network)
}

/// `HOST:PORT`: a host name, an IPv4 address, or an IPv6 address in brackets.
///
/// # Errors
/// It is something else; the help tells what is probably meant.
pub(crate) fn peer(text: &str) -> Result<PeerAddress, Diagnostic> {
    let refused = |message: &str, help: String| {
        Diagnostic::error(codes::BAD_PEER, format!("`{text}` {message}")).with_help(help)
    };
    if let Some((scheme, rest)) = text.split_once("://") {
        let rest = rest.trim_end_matches('/');
        let rest = rest.split('/').next().unwrap_or_default();
        let secure = scheme.eq_ignore_ascii_case("https");
        let port = if secure { 443 } else { 80 };
        let host = if rest.contains(':') { rest.to_owned() } else { format!("{rest}:{port}") };
        let tls = if secure { ", and in a configuration file `tls = true` for its upstream" } else { "" };
        return Err(refused(
            &format!("starts with a scheme (`{scheme}://`)"),
            format!("write `{host}`{tls}"),
        ));
    }
    if let Ok(ip) = text.parse::<Ipv6Addr>() {
        return Err(refused("has no port", format!("write `[{ip}]:80`")));
    }
    if text.contains('%') {
        let help = "use an address that is not link-local";
        return Err(refused("has a zone, which peers can't have", help.to_owned()));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && !text.ends_with(']') => (host, port),
        None if text.parse::<u16>().is_ok() => {
            return Err(refused("is a port without a host", format!("write `127.0.0.1:{text}`")));
        }
        Some(("", _)) => return Err(refused("has no host", format!("write `127.0.0.1{text}`"))),
        _ => return Err(refused("has no port", format!("add it: `{text}:80`"))),
    };
    let port = match port.parse::<u16>() {
        Ok(port) if port != 0 && !text.contains(":+") => port,
        _ if text.contains('/') => {
            let peer = text.split('/').next().unwrap_or_default();
            return Err(refused("has a path, which peers don't have", format!("write `{peer}`")));
        }
        _ => return Err(refused("has no valid port", "ports go from 1 to 65535".to_owned())),
    };
    match peer_host(host) {
        Ok(host) => Ok(PeerAddress { host, port }),
        Err(help) => Err(refused("has no valid host", help)),
    }
}

fn peer_host(host: &str) -> Result<PeerHost, String> {
    if let Some(inner) = host.strip_prefix('[') {
        let ip = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
        return match ip {
            Some(ip) => Ok(PeerHost::Ip(ip.into())),
            None => Err("brackets are for IPv6 addresses: `[::1]:80`".to_owned()),
        };
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return match ip {
            IpAddr::V4(_) => Ok(PeerHost::Ip(ip)),
            IpAddr::V6(_) => Err(format!("IPv6 addresses are in brackets: `[{ip}]`")),
        };
    }
    name(host).map(|name| PeerHost::Name(name.into()))
}

/// A host name, in lower case and without a final dot.
///
/// # Errors
/// It is none; the text tells what a name is.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if !name.is_ascii() {
        return Err("write international names in their ASCII form (`xn--…`)".to_owned());
    }
    if name.is_empty() || name.len() > 253 {
        return Err("host names have 1 to 253 characters".to_owned());
    }
    for label in name.split('.') {
        // `_` is not in RFC 1123, but in the names of containers and of SRV records.
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if label.is_empty() || label.len() > 63 || !label.bytes().all(fits) {
            return Err("host names are letters, digits, `-` and `_`, in parts of 1 to 63".to_owned());
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err("no part of a host name starts or ends with `-`".to_owned());
        }
    }
    // Resolvers take `127.1` and `0x7f.1` for addresses: a name never ends in a number.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") || last.starts_with("0X") {
        return Err("IPv4 addresses are four numbers from 0 to 255: `10.0.0.7`".to_owned());
    }
    Ok(name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<PeerAddress, &str>) {
        let told = |found: Diagnostic| format!("{}; {}", found.message, found.help.unwrap_or_default());
        match (peer(text), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{text}"),
            (Err(got), Err(part)) => {
                let told = told(got);
                assert!(told.contains(part), "{told}");
            }
            (got, expected) => panic!("{text}: {got:?} and not {expected:?}"),
        }
    }

    #[test]
    fn peers() {
        let name = |name: &str, port| Ok(PeerAddress { host: PeerHost::Name(name.into()), port });
        let ip = |ip: &str, port| Ok(PeerAddress { host: PeerHost::Ip(ip.parse().unwrap()), port });
        check("api.internal:8080", name("api.internal", 8080));
        check("API.Internal.:1", name("api.internal", 1));
        check("db_1:65535", name("db_1", 65535));
        check("xn--mnchen-3ya.de:80", name("xn--mnchen-3ya.de", 80));
        check("10.0.0.7:80", ip("10.0.0.7", 80));
        check("[::1]:80", ip("::1", 80));
        check("", Err("has no port"));
        check("[::1]", Err("has no port"));
        check("fe80::1%eth0", Err("zone"));
        check("[fe80::1%eth0]:80", Err("zone"));
        check("2001:db8::1:zz:80", Err("no valid host"));
        check("api:+80", Err("no valid port"));
        check("api:", Err("no valid port"));
        check("api:80/v1", Err("write `api:80`"));
        check("https://api:443", Err("write `api:443`, and in a configuration file `tls = true`"));
        check("https://api/v1/", Err("write `api:443`, and"));
        check("http://api", Err("write `api:80`"));
        check("9000", Err("write `127.0.0.1:9000`"));
        check("127.1:80", Err("IPv4"));
        check("0x7f.0x1:80", Err("IPv4"));
        check("[10.0.0.1]:80", Err("brackets are for IPv6"));
        check("a..b:80", Err("1 to 63"));
        check(&format!("{}:80", "a".repeat(64)), Err("1 to 63"));
        check(&format!("{}a:80", "a.".repeat(127)), Err("253"));
    }

    #[test]
    fn addresses_to_listen_on() {
        let check = |text: &str, expected: Result<(), &str>| match (listen(text, 8080), expected) {
            (Ok(_), Ok(())) => {}
            (Err(got), Err(part)) => assert!(got.message.contains(part), "{}", got.message),
            (got, expected) => panic!("{text}: {got:?} and not {expected:?}"),
        };
        check("127.0.0.1:8080", Ok(()));
        check("[::]:1", Ok(()));
        check("127.0.0.1:0", Err("has port 0"));
        check("[::]:0", Err("has port 0"));
        check("224.0.0.1:80", Err("a multicast address"));
        check("[ff02::1]:80", Err("a multicast address"));
        check("[::ffff:224.0.0.1]:80", Err("a multicast address"));
        check("255.255.255.255:80", Err("the broadcast address"));
        check("localhost:80", Err("is not an IP address"));
    }

    #[test]
    fn networks() {
        assert_eq!(network("127.0.0.1").unwrap().to_string(), "127.0.0.1/32");
        assert_eq!(network("fd00::/8").unwrap().to_string(), "fd00::/8");
        assert!(network("fd00::1/8").is_err());
    }
}
