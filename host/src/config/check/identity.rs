//! One entry of a listener's `tls`: a certificate with its key, the names it stands for, and who may come.
//! Reads the files, so that what is wrong with them is told before anything listens.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{Error as TlsError, InconsistentKeys, RootCertStore};
use toml::Spanned;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use super::host;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{ClientAuth, ClientAuthMode, HostPattern, Identity};
use crate::config::raw::{self, OneOrMany};
use crate::config::scope::Scope;
use crate::config::{codes, scalar, source};

/// A certificate that ends within this many seconds is warned of: two weeks are time to renew it.
const SOON: i64 = 14 * 24 * 3600;

pub(super) fn identity(scope: &mut Scope, base: &Path, raw: Spanned<raw::Identity>) -> Option<Identity> {
    let span = raw.span();
    let raw = raw.into_inner();
    for (field, key) in [(&raw.cert, "cert"), (&raw.key, "key")] {
        if field.is_none() {
            let found = Diagnostic::error(codes::MISSING, format!("the entry of `tls` has no `{key}`"));
            let help = "for example `tls = [{ cert = \"certs/site.pem\", key = \"certs/site.key\" }]`";
            scope.report(span.clone(), found.with_help(help));
        }
    }
    let named = [&raw.cert, &raw.key, &raw.client_ca].into_iter().flatten();
    let files = named.map(|file| base.join(file.get_ref())).collect();
    let client_auth = client_auth(scope, base, raw.client_ca, raw.client_auth);
    let names = raw.names.map(|names| names_of(scope, names));
    let cert_span = raw.cert.as_ref().map(Spanned::span);
    let chain = raw.cert.and_then(|file| scope.keep(file.span(), chain(base, file.get_ref())));
    let key_span = raw.key.as_ref().map(Spanned::span);
    let key = raw.key.and_then(|file| scope.keep(file.span(), key(base, file.get_ref())));
    let (chain, key, cert_span, key_span) = (chain?, key?, cert_span?, key_span?);
    let leaf = leaf(scope, &chain, cert_span)?;
    let certified = CertifiedKey::new(chain, key);
    if let Err(TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch)) = certified.keys_match() {
        let found = Diagnostic::error(codes::KEY_MISMATCH, "the key is not the one of the certificate");
        scope.report(key_span, found.with_help("`cert` and `key` must come from the same request for it"));
        return None;
    }
    let names = names.unwrap_or(leaf);
    Some(Identity { certified: Arc::new(certified), names, client_auth, files })
}

/// Every certificate of a PEM file, the server's own first.
pub(super) fn chain(base: &Path, text: &str) -> Result<Vec<CertificateDer<'static>>, Diagnostic> {
    let refused = |why: String| {
        Diagnostic::error(codes::BAD_CERTIFICATE, format!("`{text}` {why}")).with_help(
            "a PEM file with `-----BEGIN CERTIFICATE-----`, the server's own first, then its issuers",
        )
    };
    let file = source::read(&base.join(text))?;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(file.text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|reason| refused(format!("is not PEM: {reason}")))?;
    if chain.is_empty() { Err(refused("has no certificate".to_owned())) } else { Ok(chain) }
}

/// The private key of a PEM file, of a kind that can be used.
pub(super) fn key_der(base: &Path, text: &str) -> Result<PrivateKeyDer<'static>, Diagnostic> {
    key(base, text)?;
    let file = source::read(&base.join(text))?;
    PrivateKeyDer::from_pem_slice(file.text.as_bytes())
        .map_err(|_| Diagnostic::error(codes::BAD_KEY, format!("`{text}` has no private key")))
}

/// Whether the key is the one of the first certificate.
pub(super) fn belong_together(
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> Result<(), Diagnostic> {
    let Ok(key) = any_supported_type(key) else { return Ok(()) };
    match CertifiedKey::new(chain.to_vec(), key).keys_match() {
        Err(TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(Diagnostic::error(codes::KEY_MISMATCH, "the key is not the one of the certificate")
                .with_help("`cert` and `key` must come from the same request for it"))
        }
        _ => Ok(()),
    }
}

fn key(base: &Path, text: &str) -> Result<Arc<dyn SigningKey>, Diagnostic> {
    let refused = |why: String| {
        Diagnostic::error(codes::BAD_KEY, format!("`{text}` {why}")).with_help(
            "a PEM file with one private key (RSA, ECDSA P-256 or P-384, or Ed25519) without a passphrase",
        )
    };
    let file = source::read(&base.join(text))?;
    let key = PrivateKeyDer::from_pem_slice(file.text.as_bytes())
        .map_err(|_| refused("has no private key".to_owned()))?;
    any_supported_type(&key).map_err(|_| refused("has a private key of a kind that can't be used".to_owned()))
}

/// The names that the server's own certificate stands for. Warns of one that is out of date.
fn leaf(
    scope: &mut Scope,
    chain: &[CertificateDer<'static>],
    span: Range<usize>,
) -> Option<Vec<HostPattern>> {
    let first = chain.first()?;
    let Ok((_, leaf)) = X509Certificate::from_der(first) else {
        let found =
            Diagnostic::error(codes::BAD_CERTIFICATE, "the first certificate of the file can't be read");
        scope.report(span, found);
        return None;
    };
    let validity = leaf.validity();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let told = if validity.not_after.timestamp() < now {
        Some(format!("the certificate ended at {}", validity.not_after))
    } else if validity.not_before.timestamp() > now {
        Some(format!("the certificate begins at {}", validity.not_before))
    } else if validity.not_after.timestamp() < now.saturating_add(SOON) {
        Some(format!("the certificate ends at {}", validity.not_after))
    } else {
        None
    };
    if let Some(message) = told {
        let help = "clients refuse a certificate outside of its time: renew it, then reload";
        scope.report(span, Diagnostic::warning(codes::CERTIFICATE_DATE, message).with_help(help));
    }
    Some(subject_names(&leaf))
}

/// The DNS names of a certificate (RFC 6125, section 6.4.4: the common name only where there are none).
fn subject_names(leaf: &X509Certificate<'_>) -> Vec<HostPattern> {
    let alternative = leaf.subject_alternative_name().ok().flatten();
    let mut names: Vec<HostPattern> = alternative
        .iter()
        .flat_map(|extension| &extension.value.general_names)
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => host::host(name).ok(),
            _ => None,
        })
        .collect();
    if alternative.is_none() {
        let common = leaf.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        names.extend(common.filter_map(|name| host::host(name).ok()));
    }
    names
}

fn names_of(scope: &mut Scope, names: Spanned<OneOrMany>) -> Vec<HostPattern> {
    scope.entries(OneOrMany::items(names), |text| host::host(text))
}

fn client_auth(
    scope: &mut Scope,
    base: &Path,
    ca: Option<Spanned<String>>,
    mode: Option<Spanned<String>>,
) -> Option<ClientAuth> {
    let mode_span = mode.as_ref().map(Spanned::span);
    let words = [("required", ClientAuthMode::Required), ("optional", ClientAuthMode::Optional)];
    // Who names an authority wants its clients, and no others.
    let mode = scope.value(mode, ClientAuthMode::Required, |text| scalar::word(text, &words));
    match (ca, mode_span) {
        (Some(file), _) => {
            let roots = scope.keep(file.span(), roots(base, file.get_ref()))?;
            Some(ClientAuth { roots: Arc::new(roots), mode })
        }
        (None, Some(span)) => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`client-auth` without `client-ca`");
            scope.report(
                span,
                found.with_help("name the file with the authorities of your clients: `client-ca`"),
            );
            None
        }
        (None, None) => None,
    }
}

fn roots(base: &Path, text: &str) -> Result<RootCertStore, Diagnostic> {
    let mut roots = RootCertStore::empty();
    for certificate in chain(base, text)? {
        roots.add(certificate).map_err(|reason| {
            Diagnostic::error(codes::BAD_CERTIFICATE, format!("`{text}` has no authority: {reason}"))
                .with_help("the certificates that sign those of your clients")
        })?;
    }
    Ok(roots)
}
