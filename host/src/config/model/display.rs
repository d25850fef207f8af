//! How parts of the model are written for people: in start-up lines, `explain` and messages.

use std::fmt;
use std::net::IpAddr;

use super::{
    Balance, HashKey, HostPattern, Match, PathPattern, PeerAddress, PeerEntry, PeerHost, PeerSource,
    ValuePattern,
};

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            PeerHost::Ip(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
            PeerHost::Ip(address) => write!(f, "{address}:{}", self.port),
            PeerHost::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

impl fmt::Display for PeerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerSource::Socket(address) => address.fmt(f),
            PeerSource::Service(name) => write!(f, "srv:{name}"),
            PeerSource::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Display for PeerEntry {
    /// `10.0.0.7:80`, or `10.0.0.7:80 (weight 2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)?;
        if self.weight == 1 { Ok(()) } else { write!(f, " (weight {})", self.weight) }
    }
}

impl fmt::Display for Balance {
    /// How the peers share the requests, behind a list of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Balance::RoundRobin => f.write_str("in turn"),
            Balance::LeastRequests => f.write_str("the least busy"),
            Balance::Random => f.write_str("at random"),
            Balance::Hash(key) => write!(f, "by hash of {key}"),
        }
    }
}

impl fmt::Display for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HashKey::ClientAddress => f.write_str("the client's address"),
            HashKey::Header(name) => write!(f, "header {name}"),
            HashKey::Cookie(name) => write!(f, "cookie {name}"),
            HashKey::Plugin => f.write_str("the key that a plugin sets"),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Exact(host) => f.write_str(host),
            HostPattern::Wildcard(suffix) => write!(f, "*.{suffix}"),
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathPattern::Exact(path) => f.write_str(path),
            PathPattern::Prefix(prefix) => write!(f, "{prefix}/*"),
        }
    }
}

impl fmt::Display for ValuePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValuePattern::Present => f.write_str("*"),
            ValuePattern::Exact(value) => f.write_str(value),
            ValuePattern::Prefix(prefix) => write!(f, "{prefix}*"),
            ValuePattern::Regex(regex) => write!(f, "~{regex}"),
        }
    }
}

impl fmt::Display for Match {
    /// `GET,POST api.example.test/v1/* header x-beta=1`; `anything` where nothing is asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.methods.is_empty() {
            parts.push(joined(&self.methods));
        }
        if !self.hosts.is_empty() || !self.paths.is_empty() {
            let paths = if self.paths.is_empty() { "/*".to_owned() } else { joined(&self.paths) };
            parts.push(format!("{}{paths}", joined(&self.hosts)));
        }
        let values = |kind: &str, name: &str, value: &ValuePattern| format!("{kind} {name}={value}");
        parts.extend(self.headers.iter().map(|(name, value)| values("header", name.as_str(), value)));
        parts.extend(self.query.iter().map(|(name, value)| values("query", name, value)));
        parts.extend(self.cookies.iter().map(|(name, value)| values("cookie", name, value)));
        if parts.is_empty() { f.write_str("anything") } else { f.write_str(&parts.join(" ")) }
    }
}

fn joined<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
