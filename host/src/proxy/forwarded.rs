//! Who the client is, and what the upstream is told of it. From a peer that is not trusted, forwarding
//! fields are taken out and made anew, so that nothing in them is a client's word. Knows no routes.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use http::header::InvalidHeaderValue;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use ipnet::IpNet;
use pingora::http::RequestHeader;

use super::memo::Memo;

thread_local! {
    /// Addresses as the value of a field.
    static ADDRESSES: Memo<IpAddr, HeaderValue> = Memo::new();
}

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// Whether forwarding fields of this peer are believed.
pub(crate) fn is_trusted(peer: IpAddr, trusted: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    trusted.iter().any(|network| network.contains(&peer))
}

/// The client's address: the peer, or, behind trusted proxies, the last address of `x-forwarded-for` that
/// is not one of them.
pub(crate) fn client(head: &RequestHeader, peer: SocketAddr, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.ip().to_canonical();
    if trusted.is_empty() || !is_trusted(peer, trusted) {
        return peer;
    }
    let mut client = peer;
    let lines: Vec<_> = head.headers.get_all(&FOR).iter().collect();
    let hops = lines.iter().rev().flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    for hop in hops {
        let Some(address) = std::str::from_utf8(hop).ok().and_then(|text| text.trim().parse::<IpAddr>().ok())
        else {
            break;
        };
        client = address.to_canonical();
        if !is_trusted(client, trusted) {
            break;
        }
    }
    client
}

/// Whether a field is about forwarding: taken out of what an untrusted peer sends.
pub(crate) fn is_forwarding(name: &str) -> bool {
    name.starts_with("x-forwarded-") || name == "forwarded" || name == "x-real-ip"
}

/// Tells the upstream: `x-forwarded-for` (the peer is added to what a trusted proxy said) and
/// `x-forwarded-proto` (as a trusted proxy said, or as the client connected); `forwarded` only goes on where a
/// trusted proxy began it. What the client asked for is in
/// `host`, which passes as it is.
pub(crate) fn rebuild(headers: &mut HeaderMap, peer: IpAddr, scheme: &'static str, trust: bool) {
    let peer = peer.to_canonical();
    let before = if trust { chain_of(headers) } else { Vec::new() };
    let value = if before.is_empty() {
        ADDRESSES.with(|known| known.value(&peer, || Ok((peer, field_value(peer.to_string().into())?))))
    } else {
        field_value([before, peer.to_string().into_bytes()].concat().into())
    };
    if let Ok(value) = value {
        headers.insert(FOR, value);
    }
    if !trust || !headers.contains_key(&PROTO) {
        headers.insert(PROTO, HeaderValue::from_static(scheme));
    }
    if trust && headers.contains_key(&header::FORWARDED) {
        // A chain that a trusted proxy tells goes on with the proxy itself (RFC 7239, section 4).
        let node = if peer.is_ipv6() { format!("for=\"[{peer}]\"") } else { format!("for={peer}") };
        if let Ok(value) = HeaderValue::from_str(&format!("{node};proto={scheme}")) {
            headers.append(header::FORWARDED, value);
        }
    }
}

/// What a trusted proxy said of the hops before it, to be gone on with.
fn chain_of(headers: &HeaderMap) -> Vec<u8> {
    let mut chain = Vec::new();
    for line in headers.get_all(&FOR) {
        chain.extend_from_slice(line.as_bytes());
        chain.extend_from_slice(b", ");
    }
    chain
}

fn field_value(bytes: Bytes) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::from_maybe_shared(bytes)
}

/// Keeps what the client asked for when a plugin asks the upstream for something else.
pub(crate) fn keep_host(headers: &mut HeaderMap, asked: HeaderValue) {
    headers.entry(HOST).or_insert(asked);
}

/// Takes out every forwarding field.
pub(crate) fn remove(headers: &mut HeaderMap) {
    for name in [FOR, HOST, PROTO, REAL_IP, header::FORWARDED] {
        headers.remove(&name);
    }
    let others: Vec<HeaderName> =
        headers.keys().filter(|name| is_forwarding(name.as_str())).cloned().collect();
    for name in others {
        headers.remove(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_the_last_untrusted_hop() {
        let check = |lines: &[&'static str], peer: &str, trusted: &[&str], expected: &str| {
            let mut head = RequestHeader::build("GET", b"/", None).unwrap();
            for line in lines {
                head.append_header("x-forwarded-for", *line).unwrap();
            }
            let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
            let found = client(&head, SocketAddr::new(peer.parse().unwrap(), 1), &trusted);
            assert_eq!(found.to_string(), expected, "{lines:?} from {peer}");
        };
        check(&["1.2.3.4"], "10.0.0.1", &[], "10.0.0.1");
        check(&["1.2.3.4"], "10.0.0.1", &["10.0.0.0/8"], "1.2.3.4");
        check(&["6.6.6.6, 1.2.3.4, 10.0.0.2"], "10.0.0.1", &["10.0.0.0/8"], "1.2.3.4");
        check(&["6.6.6.6", "1.2.3.4"], "10.0.0.1", &["10.0.0.0/8"], "1.2.3.4");
        check(&["junk"], "10.0.0.1", &["10.0.0.0/8"], "10.0.0.1");
        check(&["1.2.3.4"], "::ffff:10.0.0.1", &["10.0.0.0/8"], "1.2.3.4");
        check(&["1.2.3.4"], "192.0.2.1", &["10.0.0.0/8"], "192.0.2.1");
    }
}
