//! The registry of all metrics, and its text form. Knows none of the metrics in it.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// What `/metrics` answers with.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// An empty registry. Metrics are registered under their whole name, `edgewright_…`, so that a name that is
/// seen on a dashboard is found in the source.
pub fn registry() -> Registry {
    Registry::default()
}

/// The OpenMetrics text of everything that was registered.
///
/// # Errors
/// A metric refused to be written; never for the ones of this crate.
pub fn text(registry: &Registry) -> Result<String, std::fmt::Error> {
    let mut out = String::with_capacity(16 * 1024);
    encode(&mut out, registry)?;
    Ok(out)
}
