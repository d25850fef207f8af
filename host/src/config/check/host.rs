//! Host patterns of routes.

use std::net::IpAddr;

use crate::config::model::HostPattern;
use crate::config::{address, codes, diagnostic::Diagnostic};

/// `api.example.com` or `*.example.com`, or an IP address (IPv6 in brackets).
///
/// # Errors
/// It is something else.
pub(super) fn host(text: &str) -> Result<HostPattern, Diagnostic> {
    let refused = |message: &str, help: String| {
        Diagnostic::error(codes::BAD_HOST_PATTERN, format!("`{text}` {message}")).with_help(help)
    };
    if text == "*" || text == "*." {
        return Err(refused("is not a host pattern", "leave `host` out to match every host".to_owned()));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        return Err(refused(&format!("starts with a scheme (`{scheme}://`)"), format!("write `{host}`")));
    }
    if let Some((host, path)) = text.split_once('/') {
        let help = format!("write `host = \"{host}\"` and `path = \"/{path}\"`");
        return Err(refused("has a path", help));
    }
    if let Some(bracketed) = text.strip_prefix('[') {
        return match bracketed.split_once(']') {
            Some((ip, "")) => match ip.parse::<std::net::Ipv6Addr>() {
                Ok(ip) => Ok(HostPattern::Exact(format!("[{ip}]"))),
                Err(_) => Err(refused("is not an IPv6 address", "for example `[::1]`".to_owned())),
            },
            Some((ip, _)) => Err(refused("has a port", without_port(&format!("[{ip}]")))),
            None => Err(refused("lacks a `]`", "for example `[::1]`".to_owned())),
        };
    }
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => return Ok(HostPattern::Exact(ip.to_string())),
        Ok(IpAddr::V6(ip)) => {
            return Err(refused("has no brackets", format!("IPv6 addresses are in brackets: `[{ip}]`")));
        }
        Err(_) => {}
    }
    if let Some((host, _)) = text.split_once(':') {
        return Err(refused("has a port", without_port(host)));
    }
    let (suffix, pattern): (&str, fn(String) -> HostPattern) = match text.strip_prefix("*.") {
        Some(suffix) => (suffix, HostPattern::Wildcard),
        None => (text, HostPattern::Exact),
    };
    if suffix.contains('*') {
        let help = "`*` is the first label as a whole: `*.example.com`".to_owned();
        return Err(refused("has a `*` in the wrong place", help));
    }
    match address::name(suffix) {
        Ok(name) => Ok(pattern(name)),
        Err(help) => Err(refused("is not a host pattern", help)),
    }
}

fn without_port(host: &str) -> String {
    format!("write `{host}`: it matches on every port")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<HostPattern>) {
        assert_eq!(host(text).ok(), expected, "{text}");
    }

    #[test]
    fn hosts() {
        let exact = |name: &str| Some(HostPattern::Exact(name.into()));
        check("api.example.com", exact("api.example.com"));
        check("API.Example.com.", exact("api.example.com"));
        check("localhost", exact("localhost"));
        check("10.0.0.7", exact("10.0.0.7"));
        check("[0::1]", exact("[::1]"));
        check("*.Example.com", Some(HostPattern::Wildcard("example.com".into())));
        for wrong in [
            "",
            ".",
            "*",
            "a..b",
            "a b",
            "a.*",
            "*a.b",
            "*.*.b",
            "a:80",
            "[::1]:80",
            "::1",
            "[::1",
            "http://a",
            "a/b",
            "-a.b",
            "é.example",
            "10.0.0",
            "*.",
        ] {
            check(wrong, None);
        }
    }
}
