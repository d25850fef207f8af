//! `[[listeners]]`, and which addresses are taken.

use std::net::SocketAddr;

use toml::Spanned;

use crate::config::diagnostic::{Diagnostic, Place};
use crate::config::model::Listener;
use crate::config::recover::Section;
use crate::config::scope::Scope;
use crate::config::{address, codes, raw, scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    H1,
    H2,
}

pub(crate) fn listeners(
    scope: &mut Scope,
    taken: &mut Taken,
    raws: Vec<Spanned<Section<raw::Listener>>>,
) -> Vec<Listener> {
    raws.into_iter()
        .filter_map(|raw| {
            let span = raw.span();
            let Section { value: raw, lost } = raw.into_inner();
            let h2 = raw.protocols.is_some_and(|field| speaks_h2(scope, field));
            let Some(address) = raw.address else {
                scope.missing(span, &lost, ("listeners", "address"), "the listener has no `address`");
                return None;
            };
            let span = address.span();
            let address = scope.keep(span.clone(), address::socket(address.get_ref(), 8080))?;
            taken.take(scope, address, scope.place(span));
            Some(Listener { address, h2 })
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
        let help = "without TLS, clients speak HTTP/1 first: `protocols = [\"h1\", \"h2\"]`";
        let found = Diagnostic::error(codes::PROTOCOLS, "`protocols` lacks `h1`").with_help(help);
        scope.report(span, found);
    }
    protocols.contains(&Protocol::H2)
}

/// The addresses that the process listens on.
#[derive(Debug, Default)]
pub(crate) struct Taken(Vec<(SocketAddr, Place)>);

impl Taken {
    /// Takes an address, or tells who has it. Few listeners, so a list.
    pub(crate) fn take(&mut self, scope: &mut Scope, address: SocketAddr, place: Place) {
        if let Some((other, first)) = self.0.iter().find(|(other, _)| clash(*other, address)) {
            let message = if *other == address {
                format!("`{address}` is taken")
            } else {
                format!("`{address}` is taken by `{other}`")
            };
            let found = Diagnostic::error(codes::ADDRESS_TAKEN, message)
                .with_help("choose another port")
                .with_related(first.clone(), "first taken here");
            scope.report(place.start..place.end, found);
        }
        self.0.push((address, place));
    }
}

fn clash(a: SocketAddr, b: SocketAddr) -> bool {
    // Port 0 is a free one each time.
    let same_port = a.port() == b.port() && a.port() != 0;
    let whole = a.is_ipv4() == b.is_ipv4() && (a.ip().is_unspecified() || b.ip().is_unspecified());
    same_port && (a.ip() == b.ip() || whole)
}
