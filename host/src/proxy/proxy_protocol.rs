//! The PROXY protocol (versions 1 and 2) in front of a connection: who the client is, in the words of a trusted
//! balancer. Reads no more than its header.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pingora::protocols::l4::stream::Stream as TcpStream;
use ppp::{HeaderResult, PartialResult, v1, v2};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::config::model::ProxyProtocol;

/// A header of version 1 is at most this long, in bytes, its line end included.
const MAX_V1: usize = 107;

/// One of version 2, with all that it may carry beside the addresses: a choice of ours, as the length has 16 bits.
const MAX_V2: usize = 2048;

/// How each version begins.
const V1: &[u8] = b"PROXY ";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// What came first on a connection.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    /// More is needed to tell.
    Partial,
    /// No header.
    Other,
    /// A header of that many bytes, with the client, if it names one (health checks of balancers don't).
    Header(usize, Option<SocketAddr>),
    Broken,
}

/// Takes the header off the stream. The client that it names, if it names one; `None`: the connection is to be closed.
pub(super) async fn read(
    mode: ProxyProtocol,
    stream: &mut TcpStream,
    deadline: Duration,
) -> Option<Option<SocketAddr>> {
    timeout(deadline, take(mode, stream)).await.ok()?
}

async fn take(mode: ProxyProtocol, stream: &mut TcpStream) -> Option<Option<SocketAddr>> {
    let mut seen = Vec::with_capacity(256);
    loop {
        match start(&seen) {
            Start::Partial if stream.read_buf(&mut seen).await.ok()? > 0 => {}
            Start::Header(length, client) => {
                stream.rewind(seen.get(length..).unwrap_or_default());
                return Some(client);
            }
            Start::Other if mode == ProxyProtocol::Optional => {
                stream.rewind(&seen);
                return Some(None);
            }
            _ => return None,
        }
    }
}

fn start(seen: &[u8]) -> Start {
    let begins = |mark: &[u8]| {
        let length = seen.len().min(mark.len());
        seen.get(..length) == mark.get(..length)
    };
    if !begins(V1) && !begins(V2) {
        return Start::Other;
    }
    if seen.len() < V2.len() && !seen.starts_with(V1) {
        return Start::Partial;
    }
    let most = if seen.starts_with(V1) { MAX_V1 } else { MAX_V2 };
    let found = HeaderResult::parse(seen);
    match found {
        _ if found.is_incomplete() && seen.len() < most => Start::Partial,
        HeaderResult::V1(Ok(header)) if header.header.len() <= MAX_V1 => {
            let client = match header.addresses {
                v1::Addresses::Tcp4(it) => Some((IpAddr::V4(it.source_address), it.source_port)),
                v1::Addresses::Tcp6(it) => Some((IpAddr::V6(it.source_address), it.source_port)),
                v1::Addresses::Unknown => None,
            };
            Start::Header(header.header.len(), client.map(SocketAddr::from))
        }
        HeaderResult::V2(Ok(header)) if header.len() <= MAX_V2 && header.tlvs().all(|it| it.is_ok()) => {
            let client = match header.addresses {
                _ if header.command == v2::Command::Local => None,
                v2::Addresses::IPv4(it) => Some((IpAddr::V4(it.source_address), it.source_port)),
                v2::Addresses::IPv6(it) => Some((IpAddr::V6(it.source_address), it.source_port)),
                v2::Addresses::Unspecified | v2::Addresses::Unix(_) => None,
            };
            Start::Header(header.len(), client.map(SocketAddr::from))
        }
        _ => Start::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seen: &[u8], expected: Start) {
        assert_eq!(start(seen), expected, "{}", seen.escape_ascii());
    }

    fn named(length: usize, client: &str) -> Start {
        Start::Header(length, Some(client.parse().unwrap()))
    }

    /// Version 2 with these bytes behind the signature.
    fn binary(rest: &[u8]) -> Vec<u8> {
        [V2, rest].concat()
    }

    #[test]
    fn c45_headers_of_both_versions_name_the_client() {
        check(b"PROXY TCP4 192.0.2.1 10.0.0.1 5000 80\r\nGET /", named(39, "192.0.2.1:5000"));
        check(b"PROXY TCP6 2001:db8::1 ::1 5000 80\r\n", named(36, "[2001:db8::1]:5000"));
        check(b"PROXY UNKNOWN\r\n", Start::Header(15, None));
        let tcp4 = binary(b"\x21\x11\0\x0c\xc0\0\x02\x01\x0a\0\0\x01\x13\x88\0\x50GET /");
        check(&tcp4, named(28, "192.0.2.1:5000"));
        check(&binary(b"\x20\0\0\0"), Start::Header(16, None));
        for end in 0..28 {
            check(&tcp4[..end], Start::Partial);
        }
    }

    #[test]
    fn c45_what_is_no_header_is_told_apart() {
        check(b"", Start::Partial);
        check(b"PRO", Start::Partial);
        check(b"PROXY TCP4 192.0.2.1", Start::Partial);
        check(b"GET / HTTP/1.1\r\n", Start::Other);
        check(b"POST / HTTP/1.1\r\n", Start::Other);
        check(b"\x16\x03\x01", Start::Other);
        check(b"PROXY TCP4 a b 1 2\r\n", Start::Broken);
        check(b"PROXY TCP4 192.0.2.1 10.0.0.1 70000 80\r\n", Start::Broken);
        check(&[V1, &[b'x'; 110]].concat(), Start::Broken);
        // The version, the family, and a value that goes on past the end.
        check(&binary(b"\x31\x11\0\x0c\xc0\0\x02\x01\x0a\0\0\x01\x13\x88\0\x50"), Start::Broken);
        check(&binary(b"\x21\x11\0\x04\xc0\0\x02\x01"), Start::Broken);
        check(&binary(b"\x21\x11\0\x10\xc0\0\x02\x01\x0a\0\0\x01\x13\x88\0\x50\x01\0\xff\0"), Start::Broken);
    }
}
