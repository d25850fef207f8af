//! The host that a client asks for: `Host`, `:authority` or the authority of an absolute target, in one
//! spelling. Knows nothing else.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A host, with a port if one was given, in lower case and without a final dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority<'a> {
    text: Cow<'a, str>,
    host_length: usize,
    port: Option<u16>,
}

impl Authority<'_> {
    /// The host alone, as the router matches it; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        self.text.get(..self.host_length).unwrap_or_default()
    }

    /// The port that was asked for, if any.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Host and port as asked, `a.test:8080`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// That of a request which names none.
    pub fn none() -> Self {
        Authority { text: Cow::Borrowed(""), host_length: 0, port: None }
    }

    /// The same, borrowed from nothing.
    pub fn into_owned(self) -> Authority<'static> {
        Authority { text: Cow::Owned(self.text.into_owned()), host_length: self.host_length, port: self.port }
    }
}

/// Why a host is refused, with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("the host is empty")]
    Empty,
    #[error("the host is longer than {MAX_HOST} bytes")]
    TooLong,
    #[error("the host has a byte that no host name has")]
    Byte,
    #[error("the host has an empty label")]
    EmptyLabel,
    #[error("the host is not an IPv6 address in brackets")]
    Address,
    #[error("the port is not a number from 1 to 65535")]
    Port,
}

/// DNS has no longer names (RFC 1035, section 2.3.4). It also bounds what matching wildcards costs, which
/// is a look-up a label.
const MAX_HOST: usize = 253;

/// Whether a host, as [`Authority::host`] gives it, is an address in place of a name.
pub fn is_address(host: &str) -> bool {
    host.starts_with('[')
        || (host.ends_with(|c: char| c.is_ascii_digit()) && host.parse::<Ipv4Addr>().is_ok())
}

/// Reads a host with an optional port (RFC 3986, section 3.2.2, without what HTTP has no use for:
/// percent-encoding and sub-delimiters). Allocates only where letters have to be lowered or a dot before
/// a port taken out. An empty port is dropped.
///
/// # Errors
/// It is not a host name, IPv4 address or IPv6 address in brackets, or the port is not one.
pub fn authority(raw: &[u8]) -> Result<Authority<'_>, BadHost> {
    let text = std::str::from_utf8(raw).map_err(|_| BadHost::Byte)?;
    let (host, port_text) = if text.starts_with('[') { bracketed(text)? } else { named(text)? };
    let port = port(port_text)?;
    if host.len() > MAX_HOST {
        return Err(BadHost::TooLong);
    }
    if let Some(canonical) = canonical_ipv6(host) {
        let host_length = canonical.len();
        let text = if port.is_some() { format!("{canonical}:{port_text}") } else { canonical };
        return Ok(Authority { text: Cow::Owned(text), host_length, port });
    }
    let kept = host.strip_suffix('.').unwrap_or(host);
    let host_length = kept.len();
    // With no port, the text ends with the host; with one, it goes on as asked unless a dot came between.
    let whole = match port {
        None => Some(kept),
        Some(_) if kept.len() == host.len() => Some(text),
        Some(_) => None,
    };
    let text = match whole {
        Some(whole) if !whole.bytes().any(|b| b.is_ascii_uppercase()) => Cow::Borrowed(whole),
        Some(whole) => Cow::Owned(whole.to_ascii_lowercase()),
        None => Cow::Owned(format!("{}:{port_text}", kept.to_ascii_lowercase())),
    };
    Ok(Authority { text, host_length, port })
}

/// The one spelling of an IPv6 address in brackets (RFC 5952), where `host` is one in another spelling.
fn canonical_ipv6(host: &str) -> Option<String> {
    let inside = host.strip_prefix('[')?.strip_suffix(']')?;
    let canonical = format!("[{}]", inside.parse::<Ipv6Addr>().ok()?);
    (canonical != host).then_some(canonical)
}

/// Splits off the port, without its colon, and checks that the host is a name (or an IPv4 address, which
/// reads as one).
fn named(text: &str) -> Result<(&str, &str), BadHost> {
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    if host.is_empty() || host == "." {
        return Err(BadHost::Empty);
    }
    let mut after_dot = true;
    for byte in host.bytes() {
        match byte {
            b'.' if after_dot => return Err(BadHost::EmptyLabel),
            b'.' => after_dot = true,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => after_dot = false,
            _ => return Err(BadHost::Byte),
        }
    }
    Ok((host, port))
}

fn bracketed(text: &str) -> Result<(&str, &str), BadHost> {
    let end = text.find(']').ok_or(BadHost::Address)?;
    let (host, rest) = text.split_at_checked(end + 1).ok_or(BadHost::Address)?;
    let address = host.get(1..end).ok_or(BadHost::Address)?;
    address.parse::<Ipv6Addr>().map_err(|_| BadHost::Address)?;
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, port)),
        None if rest.is_empty() => Ok((host, "")),
        None => Err(BadHost::Byte),
    }
}

fn port(text: &str) -> Result<Option<u16>, BadHost> {
    if text.is_empty() {
        return Ok(None);
    }
    // `parse` would take a `+`.
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadHost::Port);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err(BadHost::Port),
        Ok(port) => Ok(Some(port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: Result<(&str, &str), BadHost>) {
        let seen = authority(raw.as_bytes());
        let seen = seen.as_ref().map(|a| (a.host(), a.as_str())).map_err(|bad| *bad);
        assert_eq!(seen, expected, "{raw}");
    }

    #[test]
    fn one_spelling_of_one_host() {
        check("app.example.test", Ok(("app.example.test", "app.example.test")));
        check("APP.Example.TEST", Ok(("app.example.test", "app.example.test")));
        check("app.example.test:8080", Ok(("app.example.test", "app.example.test:8080")));
        check("app.example.test.", Ok(("app.example.test", "app.example.test")));
        check("App.example.test.:8080", Ok(("app.example.test", "app.example.test:8080")));
        check("a:", Ok(("a", "a")));
        check("a.:", Ok(("a", "a")));
        check("A:", Ok(("a", "a")));
        check("a_b-c~d", Ok(("a_b-c~d", "a_b-c~d")));
        check("127.0.0.1:80", Ok(("127.0.0.1", "127.0.0.1:80")));
        check("[::1]", Ok(("[::1]", "[::1]")));
        check("[2001:DB8::1]:443", Ok(("[2001:db8::1]", "[2001:db8::1]:443")));
        check("[::1]:", Ok(("[::1]", "[::1]")));
    }

    #[test]
    fn what_is_no_host() {
        for raw in ["", ".", ":", ":80", ".:80", "::1"] {
            check(raw, Err(BadHost::Empty));
        }
        for raw in
            ["a b", "a/b", "a?x", "a#x", "u@a", "a,b", "a%41", "a\tb", "a\0", "ä.test", "a\\b", "*", "a'b"]
        {
            check(raw, Err(BadHost::Byte));
        }
        for raw in ["a..", "a..b", ".a"] {
            check(raw, Err(BadHost::EmptyLabel));
        }
        for raw in ["a:abcd", "a:0", "a:65536", "a:+80", "a:80x", "a:80:80", "a:-1", "a: 80", "[::1]:x"] {
            check(raw, Err(BadHost::Port));
        }
        for raw in ["[::1", "[]", "[::1%25eth0]", "[v1.a]", "[a.test]", "[127.0.0.1]"] {
            check(raw, Err(BadHost::Address));
        }
        check("[::1]x", Err(BadHost::Byte));
        check("a]", Err(BadHost::Byte));
        check(&"a".repeat(254), Err(BadHost::TooLong));
    }

    #[test]
    fn bytes_outside_of_utf8_are_refused() {
        assert_eq!(authority(b"a\xff"), Err(BadHost::Byte));
    }

    #[test]
    fn the_usual_spelling_is_borrowed() {
        for raw in ["a.test", "a.test:80", "a.test.", "a.test:", "[::1]:80"] {
            assert!(matches!(authority(raw.as_bytes()).unwrap().text, Cow::Borrowed(_)), "{raw}");
        }
    }

    #[test]
    fn addresses_are_told_from_names() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("[::1]", true),
            ("1.2.3", false),
            ("a.1", false),
            ("a.test", false),
            ("", false),
        ] {
            assert_eq!(is_address(host), expected, "{host}");
        }
    }
}
