//! Whose certificates are believed: those of the system, or those of one file. Must not know origins.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::plugin::error::LoadReason;
use crate::plugin::printable::printable;

/// The roots of the system, read only where they are needed. Those that can't be read are left out, as browsers do.
pub(super) fn of_system(wanted: bool) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    if wanted {
        match rustls_native_certs::load_native_certs() {
            Ok(found) => {
                let (added, _) = roots.add_parsable_certificates(found);
                if added == 0 {
                    tracing::warn!("the system has no root certificates: plugins reach no https origin");
                }
            }
            Err(error) => tracing::warn!(%error, "root certificates of the system not read"),
        }
    }
    Arc::new(config(roots))
}

/// The certificates of a PEM file, and no others.
pub(super) fn of_file(file: &Path) -> Result<Arc<ClientConfig>, LoadReason> {
    let shown = printable(&file.to_string_lossy()).into_owned();
    let refused = |why: String| LoadReason::Ungrantable(format!("`ca` of `grants.http`: `{shown}` {why}"));
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| refused(format!("can't be read: {error}")))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(format!("is no PEM file: {error}")))?;
        roots
            .add(certificate)
            .map_err(|error| refused(format!("has a certificate that can't be used: {error}")))?;
    }
    if roots.is_empty() {
        return Err(refused("has no certificate".to_owned()));
    }
    Ok(Arc::new(config(roots)))
}

fn config(roots: RootCertStore) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    match builder {
        Ok(builder) => builder.with_root_certificates(roots).with_no_client_auth(),
        // The provider has every suite of TLS 1.2 and 1.3.
        Err(_) => ClientConfig::builder().with_root_certificates(roots).with_no_client_auth(),
    }
}
