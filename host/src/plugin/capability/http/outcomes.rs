//! How the calls of plugins go, as a metric. Must not know calls.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Calls by plugin and outcome. Cloning shares the counts.
#[derive(Debug, Clone, Default)]
pub(in crate::plugin) struct Outcomes(Family<Labels, Counter>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    plugin: Arc<str>,
    outcome: &'static str,
}

impl Outcomes {
    pub(in crate::plugin) fn register(&self, registry: &mut Registry) {
        let help = "HTTP calls of plugins by outcome";
        registry.register("edgewright_plugin_http_calls", help, self.0.clone());
    }

    pub(super) fn count(&self, plugin: &Arc<str>, outcome: &'static str) {
        self.0.get_or_create(&Labels { plugin: Arc::clone(plugin), outcome }).inc();
    }
}
