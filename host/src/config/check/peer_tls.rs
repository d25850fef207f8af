//! `tls` and `protocol` of an upstream. Reads the files, so that what is wrong with them is told before anything is
//! sent.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use toml::Spanned;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::identity;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{PeerEntry, PeerIdentity, PeerProtocol, PeerSource, PeerTls, PeerVerify};
use crate::config::raw;
use crate::config::scope::Scope;
use crate::config::{address, codes, scalar};

pub(super) fn tls(
    scope: &mut Scope,
    base: &Path,
    raw: Spanned<raw::PeerTls>,
    peers: &[PeerEntry],
) -> Option<PeerTls> {
    let span = raw.span();
    let raw = match raw.into_inner() {
        raw::PeerTls::Flag(false) => return None,
        raw::PeerTls::Flag(true) => raw::PeerTlsTable::default(),
        raw::PeerTls::Table(table) => table,
    };
    let verify_span = raw.verify_name.as_ref().map(Spanned::span);
    let verify = match (raw.verify.is_none_or(Spanned::into_inner), raw.verify_name.map(Spanned::into_inner))
    {
        (true, None | Some(true)) => PeerVerify::Name,
        (true, Some(false)) => PeerVerify::Chain,
        (false, None | Some(false)) => PeerVerify::Nothing,
        (false, Some(true)) => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`verify-name` without `verify`");
            let help =
                "a name in a certificate that nobody vouches for says nothing: leave out `verify = false`";
            scope.report(verify_span.unwrap_or_else(|| span.clone()), found.with_help(help));
            PeerVerify::Name
        }
    };
    let has_sni = raw.sni.is_some();
    let sni = raw.sni.and_then(|sni| scope.keep(sni.span(), sni_of(sni.get_ref())));
    let unnamed = peers.iter().find(|peer| matches!(peer.source, PeerSource::Unix(_)));
    if let Some(peer) = unnamed.filter(|_| !has_sni) {
        let message = format!("peer `{}` has no name that its certificate could be for", peer.source);
        let help = "say it: `tls = { sni = \"api.internal\" }`";
        scope.report(span.clone(), Diagnostic::error(codes::MISSING, message).with_help(help));
    }
    let ca = raw.ca.and_then(|file| scope.keep(file.span(), authorities(base, file.get_ref())));
    let identity = match (raw.cert, raw.key) {
        (None, None) => None,
        (Some(cert), Some(key)) => {
            let chain = scope.keep(cert.span(), readable(base, cert.get_ref()));
            let key_span = key.span();
            let key = scope.keep(key_span.clone(), identity::key_der(base, key.get_ref()));
            chain.zip(key).and_then(|(chain, key)| {
                let belongs = identity::belong_together(&chain, &key);
                scope.keep(key_span, belongs)?;
                let chain = chain.iter().map(|certificate| certificate.to_vec()).collect();
                Some(Arc::new(PeerIdentity { chain, key: key.secret_der().to_vec() }))
            })
        }
        _ => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`cert` and `key` go together");
            scope.report(
                span,
                found.with_help("name the certificate and the key that belongs to it, or neither"),
            );
            None
        }
    };
    Some(PeerTls { sni, verify, ca, identity })
}

/// What is spoken to peers. Without a word on it: what TLS agrees on, or else HTTP/1.1.
pub(super) fn protocol(scope: &mut Scope, raw: Option<Spanned<String>>, has_tls: bool) -> PeerProtocol {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Word {
        H1,
        H2,
        H2c,
        Auto,
    }
    let default = if has_tls { PeerProtocol::Auto } else { PeerProtocol::H1 };
    let Some(raw) = raw else { return default };
    let words = [("h1", Word::H1), ("h2", Word::H2), ("h2c", Word::H2c), ("auto", Word::Auto)];
    let Some(word) = scope.keep(raw.span(), scalar::word(raw.get_ref(), &words)) else { return default };
    let (protocol, help) = match (word, has_tls) {
        (Word::H1, _) => return PeerProtocol::H1,
        (Word::Auto, true) => return PeerProtocol::Auto,
        (Word::H2, true) | (Word::H2c, false) => return PeerProtocol::H2,
        (Word::H2, false) => ("`h2` is for peers with TLS", "write `h2c`, or add `tls = true`"),
        (Word::Auto, false) => {
            ("without TLS, `auto` has nothing to agree by", "write `h1` or `h2c`, or add `tls = true`")
        }
        (Word::H2c, true) => ("`h2c` is for peers without TLS", "write `h2`"),
    };
    scope.report(raw.span(), Diagnostic::error(codes::CONTRADICTION, protocol).with_help(help));
    default
}

/// A name, or an IP address, which is verified but not sent (RFC 6066, section 3).
fn sni_of(text: &str) -> Result<Arc<str>, Diagnostic> {
    if text.parse::<std::net::IpAddr>().is_ok() {
        return Ok(text.into());
    }
    address::name(text).map(Arc::from).map_err(|help| {
        Diagnostic::error(codes::BAD_SERVER_NAME, format!("`{text}` is no name of a server")).with_help(help)
    })
}

/// Each certificate of the file as it is: the authorities whose certificates are good.
fn authorities(base: &Path, text: &str) -> Result<Arc<[Vec<u8>]>, Diagnostic> {
    let certificates = readable(base, text)?;
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots.add(certificate.clone()).map_err(|reason| {
            Diagnostic::error(codes::BAD_CERTIFICATE, format!("`{text}` has no authority: {reason}"))
                .with_help("the certificates that sign those of the peers")
        })?;
    }
    Ok(certificates.iter().map(|certificate| certificate.to_vec()).collect())
}

/// Every certificate of a PEM file; each of them can be read.
fn readable(base: &Path, text: &str) -> Result<Vec<CertificateDer<'static>>, Diagnostic> {
    let certificates = identity::chain(base, text)?;
    match certificates.iter().find(|certificate| X509Certificate::from_der(certificate).is_err()) {
        None => Ok(certificates),
        Some(_) => {
            let message = format!("`{text}` has a certificate that can't be read");
            Err(Diagnostic::error(codes::BAD_CERTIFICATE, message))
        }
    }
}
