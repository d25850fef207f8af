//! `[[listeners]]`, and which addresses are taken: for other ends, and for peers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use toml::Spanned;

use super::identity::identity;

use crate::config::diagnostic::{Diagnostic, Place};
use crate::config::model::{
    HostPattern, Identity, Listener, PeerAddress, ProxyProtocol, Server, Tls, TlsVersion,
};
use crate::config::recover::Section;
use crate::config::scope::Scope;
use crate::config::{address, codes, defaults, overlap, raw, scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    H1,
    H2,
}

pub(crate) fn listeners(
    scope: &mut Scope,
    taken: &mut Taken,
    server: &Server,
    base: &Path,
    raws: Vec<Spanned<Section<raw::Listener>>>,
) -> Vec<Listener> {
    raws.into_iter()
        .filter_map(|raw| {
            let span = raw.span();
            let Section { value: raw, lost } = raw.into_inner();
            let secure = raw.tls.is_some();
            // Clients agree on the protocol within TLS, so that nothing stands against both.
            let h2 = raw.protocols.map_or(secure, |field| speaks_h2(scope, field));
            let proxy_protocol = proxy_protocol(scope, server, raw.proxy_protocol);
            let min_version = min_version(scope, raw.tls_min_version, secure);
            let tls = raw.tls.map(|field| tls(scope, base, field, min_version));
            let Some(address) = raw.address else {
                scope.missing(span, &lost, ("listeners", "address"), "the listener has no `address`");
                return None;
            };
            let span = address.span();
            let address = scope.keep(span.clone(), address::listen(address.get_ref(), 8080))?;
            let place = scope.place(span);
            taken.take(scope, EndKind::Listener, address, place);
            Some(Listener { address, h2, proxy_protocol, tls })
        })
        .collect()
}

fn speaks_h2(scope: &mut Scope, field: Spanned<Vec<Spanned<String>>>) -> bool {
    let span = field.span();
    let written = field.get_ref().len();
    let words = [("h1", Protocol::H1), ("h2", Protocol::H2)];
    let protocols = scope.entries(field.into_inner(), |text| scalar::word(text, &words));
    // With an unknown word in the list, it is open what was meant.
    if protocols.len() == written && !protocols.contains(&Protocol::H1) {
        let help = "there are always clients that speak HTTP/1: `protocols = [\"h1\", \"h2\"]`";
        let found = Diagnostic::error(codes::PROTOCOLS, "`protocols` lacks `h1`").with_help(help);
        scope.report(span, found);
    }
    protocols.contains(&Protocol::H2)
}

fn proxy_protocol(scope: &mut Scope, server: &Server, field: Option<Spanned<String>>) -> ProxyProtocol {
    let words = [
        ("off", ProxyProtocol::Off),
        ("optional", ProxyProtocol::Optional),
        ("required", ProxyProtocol::Required),
    ];
    let span = field.as_ref().map(Spanned::span);
    let mode = scope.value(field, ProxyProtocol::Off, |text| scalar::word(text, &words));
    if let (Some(span), true) = (span, mode != ProxyProtocol::Off && server.trusted_proxies.is_empty()) {
        let message = "`proxy-protocol` needs peers that are trusted";
        let help = "name your balancers: `trusted-proxies = [\"10.0.0.0/8\"]` in `[server]`";
        scope.report(span, Diagnostic::error(codes::CONTRADICTION, message).with_help(help));
    }
    mode
}

fn min_version(scope: &mut Scope, field: Option<Spanned<String>>, secure: bool) -> TlsVersion {
    if let (Some(field), false) = (&field, secure) {
        let found = Diagnostic::error(codes::CONTRADICTION, "`tls-min-version` without `tls`");
        scope.report(
            field.span(),
            found.with_help("name a certificate: `tls = [{ cert = \"…\", key = \"…\" }]`"),
        );
    }
    let words = [("1.2", TlsVersion::Tls12), ("1.3", TlsVersion::Tls13)];
    scope.value(field, defaults::TLS_MIN_VERSION, |text| scalar::word(text, &words))
}

fn tls(
    scope: &mut Scope,
    base: &Path,
    field: Spanned<Vec<Spanned<raw::Identity>>>,
    min_version: TlsVersion,
) -> Tls {
    if field.get_ref().is_empty() {
        let found = Diagnostic::error(codes::EMPTY_VALUE, "`tls` is an empty list");
        scope.report(field.span(), found.with_help("leave `tls` out for a listener in the clear"));
    }
    let mut identities: Vec<Identity> = Vec::new();
    for entry in field.into_inner() {
        let span = entry.span();
        let Some(next) = identity(scope, base, entry) else { continue };
        let taken: Option<&HostPattern> =
            next.names.iter().find(|name| identities.iter().any(|earlier| earlier.names.contains(name)));
        if let Some(name) = taken {
            let message = format!("an earlier entry of `tls` stands for `{name}`, too");
            let help = "the earlier one is taken: say with `names` which stands for what";
            scope.report(span, Diagnostic::warning(codes::TLS_NAME_TWICE, message).with_help(help));
        }
        identities.push(next);
    }
    Tls { identities, min_version }
}

/// The addresses that the process listens on.
#[derive(Debug, Default)]
pub(crate) struct Taken(HashMap<u16, Vec<End>>);

/// What listens on an address.
#[derive(Debug)]
struct End {
    kind: EndKind,
    address: SocketAddr,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndKind {
    Listener,
    Admin,
}

impl Taken {
    /// Takes an address, or tells who has it.
    pub(crate) fn take(&mut self, scope: &mut Scope, kind: EndKind, address: SocketAddr, place: Place) {
        let ends = self.0.entry(address.port()).or_default();
        if let Some(first) = ends.iter().find(|end| overlap::clash(end.address, address)) {
            scope.report(
                place.start..place.end,
                taken(address, first.address).with_related(first.place.clone(), "first taken here"),
            );
        }
        ends.push(End { kind, address, place });
    }

    /// Refuses a peer that is one of these ends.
    ///
    /// # Errors
    /// A connection to `peer` comes to the proxy itself.
    pub(super) fn refuse_self(&self, peer: &PeerAddress) -> Result<(), Diagnostic> {
        let ends = self.0.get(&peer.port).map(Vec::as_slice).unwrap_or_default();
        match ends.iter().find(|end| overlap::reaches(peer, end.address)) {
            None => Ok(()),
            Some(end) => {
                let label = match end.kind {
                    EndKind::Listener => "the proxy listens here",
                    EndKind::Admin => "the proxy's admin end is here",
                };
                Err(peer_is_self(peer, end.kind).with_related(end.place.clone(), label))
            }
        }
    }
}

pub(crate) fn taken(address: SocketAddr, first: SocketAddr) -> Diagnostic {
    let message = if first == address {
        format!("`{address}` is taken")
    } else {
        format!("`{address}` is taken by `{first}`")
    };
    let both_families = |ip: IpAddr| ip.is_unspecified() && ip.is_ipv6();
    let help = if address.is_ipv4() != first.is_ipv4()
        && (both_families(address.ip()) || both_families(first.ip()))
    {
        "`[::]` takes IPv4 connections too: leave the other out, or choose another port"
    } else {
        "choose another port"
    };
    Diagnostic::error(codes::ADDRESS_TAKEN, message).with_help(help)
}

pub(crate) fn peer_is_self(peer: &PeerAddress, kind: EndKind) -> Diagnostic {
    let (message, help) = match kind {
        EndKind::Listener => (
            format!("peer `{peer}` is the proxy itself"),
            "a request would come back again and again: write the address of the application",
        ),
        EndKind::Admin => (
            format!("peer `{peer}` is the proxy's own admin end"),
            "clients would see it: write the address of the application",
        ),
    };
    Diagnostic::error(codes::PEER_IS_SELF, message).with_help(help)
}
