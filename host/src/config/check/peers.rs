//! `peers` of an upstream: what each entry stands for, and its weight.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use super::Taken;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{PeerEntry, PeerSource};
use crate::config::raw;
use crate::config::recover::Lost;
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, scalar};

/// `sockaddr_un` has room for this many bytes, and a NUL behind them.
const LONGEST_PATH: usize = 107;

pub(super) fn peers(
    scope: &mut Scope,
    taken: &Taken,
    raws: Vec<Spanned<raw::Peer>>,
    lost: &Lost,
) -> Vec<PeerEntry> {
    let mut first: HashMap<PeerSource, Range<usize>> = HashMap::new();
    let mut peers = Vec::new();
    for raw in raws {
        let span = raw.span();
        let (text, weight) = match raw.into_inner() {
            raw::Peer::Address(text) => (Spanned::new(span, text), None),
            raw::Peer::Table(raw::PeerTable { address: Some(address), weight }) => (address, weight),
            raw::Peer::Table(_) => {
                scope.missing(span, lost, ("peer", "address"), "the peer has no `address`");
                continue;
            }
        };
        let weight = scope.value(weight, 1, |weight| scalar::count(*weight, defaults::WEIGHT));
        let Some(source) = scope.keep(text.span(), source(text.get_ref())) else { continue };
        if let Some(first) = first.get(&source) {
            let first = scope.place(first.clone());
            let found =
                Diagnostic::warning(codes::PEER_TWICE, format!("peer `{}` is there twice", text.get_ref()))
                    .with_help("leave one of them out")
                    .with_related(first, "first here");
            scope.report(text.span(), found);
            continue;
        }
        first.insert(source.clone(), text.span());
        if let PeerSource::Socket(address) = &source {
            scope.keep(text.span(), taken.refuse_self(address));
        }
        peers.push(PeerEntry { source, weight: u16::try_from(weight).unwrap_or(u16::MAX) });
    }
    peers
}

/// `HOST:PORT`, `unix:/PATH` or `srv:_SERVICE._PROTOCOL.NAME`.
fn source(text: &str) -> Result<PeerSource, Diagnostic> {
    if let Some(path) = text.strip_prefix("unix:") {
        return unix(text, path);
    }
    if let Some(name) = text.strip_prefix("srv:") {
        return service(text, name);
    }
    address::peer(text).map(PeerSource::Socket)
}

fn unix(text: &str, path: &str) -> Result<PeerSource, Diagnostic> {
    let refused = |message: &str, help: &str| {
        Err(Diagnostic::error(codes::BAD_PEER, format!("`{text}` {message}")).with_help(help))
    };
    if !path.starts_with('/') {
        return refused("is not an absolute path", "write the whole path: `unix:/run/app.sock`");
    }
    if path.len() > LONGEST_PATH || path.contains('\0') {
        return refused("is too long for a socket", "paths of sockets have at most 107 bytes");
    }
    Ok(PeerSource::Unix(Path::new(path).into()))
}

fn service(text: &str, name: &str) -> Result<PeerSource, Diagnostic> {
    const HELP: &str = "for example `srv:_http._tcp.api.internal`";
    let name = address::name(name).map_err(|help| {
        Diagnostic::error(codes::BAD_PEER, format!("`{text}` has no valid name")).with_help(help)
    })?;
    let mut labels = name.split('.');
    let underscored =
        |label: Option<&str>| label.is_some_and(|label| label.len() > 1 && label.starts_with('_'));
    if !underscored(labels.next()) || !underscored(labels.next()) || labels.next().is_none() {
        let found = Diagnostic::error(codes::BAD_PEER, format!("`{text}` is not the name of a service"));
        return Err(found.with_help(HELP));
    }
    Ok(PeerSource::Service(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        let check = |text: &str, expected: Result<&str, &str>| match (source(text), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got.to_string(), expected, "{text}"),
            (Err(got), Err(part)) => assert!(got.message.contains(part), "{}", got.message),
            (got, expected) => panic!("{text}: {got:?} and not {expected:?}"),
        };
        check("10.0.0.7:80", Ok("10.0.0.7:80"));
        check("[::1]:80", Ok("[::1]:80"));
        check("unix:/run/app.sock", Ok("unix:/run/app.sock"));
        check("unix:app.sock", Err("is not an absolute path"));
        check(&format!("unix:/{}", "a".repeat(107)), Err("is too long for a socket"));
        check("srv:_http._tcp.API.internal.", Ok("srv:_http._tcp.api.internal"));
        check("srv:api.internal", Err("is not the name of a service"));
        check("srv:_http._tcp", Err("is not the name of a service"));
        check("srv:_http._tcp..x", Err("has no valid name"));
    }
}
