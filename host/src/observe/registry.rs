//! The registry of all metrics, and its text form. Knows none of the metrics in it.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// Every metric's name starts with this and an underscore.
pub const PREFIX: &str = "edgewright";

/// What `/metrics` answers with.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A registry of which every metric is named `edgewright_…`.
pub fn registry() -> Registry {
    Registry::with_prefix(PREFIX)
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
