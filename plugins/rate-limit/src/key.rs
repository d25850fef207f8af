//! Whose request it is: the key of the counter. Must not know the limit.

use std::fmt::Write as _;
use std::net::IpAddr;

use edgewright_sdk::Request;
use sha2::{Digest, Sha256};

use crate::config::{By, Config, Scope};

/// Longer values are counted by their hash: keys have 256 bytes.
const LONGEST: usize = 128;

/// What the request counts for. Where the header or attribute is not there, its client's address.
pub(crate) fn of(request: &Request, config: &Config) -> String {
    // The name of a route may have up to 64 bytes.
    let mut key = format!("{}/", config.name);
    if config.scope == Scope::Route {
        let _ = write!(key, "{}/", request.route());
    }
    let value = match &config.by {
        By::ClientAddress => None,
        By::All => return key,
        By::Header(name) => request.header(name).map(|value| ("h", value)),
        By::Attribute(name) => request.attribute(name).map(|value| ("a", value)),
    };
    match value {
        Some((kind, value)) => {
            let _ = write!(key, "{kind}/{}", short(&value));
        }
        None => {
            let _ = write!(key, "c/{}", network(&request.client_address(), config.ipv6_prefix));
        }
    }
    key
}

/// A value as it is, if that is possible.
fn short(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) if text.len() <= LONGEST => format!("={text}"),
        _ => Sha256::digest(value).iter().fold(String::from("#"), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }),
    }
}

/// The address, or of IPv6 its network: a client has many addresses of one.
fn network(address: &str, prefix: u8) -> String {
    match address.parse() {
        Ok(IpAddr::V6(v6)) => {
            let host_bits = 128 - u32::from(prefix.min(128));
            let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
            std::net::Ipv6Addr::from(u128::from(v6) & mask).to_string()
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        fn check(address: &str, prefix: u8, expected: &str) {
            assert_eq!(network(address, prefix), expected);
        }
        check("192.0.2.1", 64, "192.0.2.1");
        check("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::");
        check("2001:db8:1:2:3:4:5:6", 56, "2001:db8:1::");
        check("2001:db8::1", 128, "2001:db8::1");
        check("2001:db8::1", 0, "::");
    }

    #[test]
    fn long_and_odd_values_are_hashed() {
        assert_eq!(short(b"key"), "=key");
        assert_eq!(short(b"\xff").len(), 65);
        assert_ne!(short(&[b'a'; 129]), short(&[b'b'; 129]));
    }
}
