//! What is read off the plugins that are loaded at the time of a scrape: instances, memory, quarantine, version.
//! Nothing of it costs a call anything. Where two generations have a plugin of one name, their numbers are one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::super::loaded::Plugin;
use super::super::pool::Census;
use crate::phase::Phase;

/// All plugins that were loaded and are still there. Cloning shares it.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<Vec<Weak<Plugin>>>>);

#[derive(Default)]
struct Merged {
    census: Census,
    memory_peak: usize,
    compile_seconds: f64,
    versions: BTreeSet<String>,
    /// By phase, whether it is left out.
    quarantined: BTreeMap<Phase, bool>,
}

impl Live {
    pub(super) fn add(&self, plugin: &Arc<Plugin>) {
        let mut plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plugins.retain(|plugin| plugin.strong_count() > 0);
        plugins.push(Arc::downgrade(plugin));
    }

    fn merged(&self) -> BTreeMap<String, Merged> {
        let plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_name: BTreeMap<String, Merged> = BTreeMap::new();
        for plugin in plugins.iter().filter_map(Weak::upgrade) {
            let merged = by_name.entry(plugin.name().to_owned()).or_default();
            let census = plugin.census();
            merged.census.idle += census.idle;
            merged.census.busy += census.busy;
            merged.census.building += census.building;
            merged.memory_peak = merged.memory_peak.max(plugin.memory_peak());
            // The one that was loaded last.
            merged.compile_seconds = plugin.compile_time().as_secs_f64();
            merged.versions.insert(plugin.version().to_owned());
            for phase in plugin.phases() {
                *merged.quarantined.entry(phase).or_default() |= plugin.quarantined(phase).is_some();
            }
        }
        by_name
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

impl Collector for Live {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let plugins = self.merged();
        let mut gauges = Gauges { encoder: &mut encoder };
        gauges.write(
            "edgewright_plugin_instances",
            "Instances of plugins by what they do",
            plugins.iter().flat_map(|(plugin, merged)| {
                let Census { idle, busy, building, .. } = merged.census;
                [("idle", idle), ("busy", busy), ("building", building)]
                    .map(|(state, count)| ([("plugin", plugin.as_str()), ("state", state)], count as f64))
            }),
        )?;
        gauges.write(
            "edgewright_plugin_memory_peak_bytes",
            "The most linear memory that an instance of a plugin had",
            plugins.iter().map(|(plugin, merged)| ([("plugin", plugin.as_str())], merged.memory_peak as f64)),
        )?;
        gauges.write(
            "edgewright_plugin_compile_seconds",
            "What compiling a plugin took, or loading it from the cache",
            plugins.iter().map(|(plugin, merged)| ([("plugin", plugin.as_str())], merged.compile_seconds)),
        )?;
        gauges.write(
            "edgewright_plugin_info",
            "The SHA-256 of each plugin's file",
            plugins.iter().flat_map(|(plugin, merged)| {
                merged
                    .versions
                    .iter()
                    .map(move |version| ([("plugin", plugin.as_str()), ("version", version.as_str())], 1.0))
            }),
        )?;
        gauges.write(
            "edgewright_plugin_quarantined",
            "Whether a phase of a plugin is left out because it failed too often: 0 or 1",
            plugins.iter().flat_map(|(plugin, merged)| {
                merged.quarantined.iter().map(move |(phase, is_on)| {
                    ([("plugin", plugin.as_str()), ("phase", phase.name())], f64::from(u8::from(*is_on)))
                })
            }),
        )
    }
}

struct Gauges<'a, 'b> {
    encoder: &'a mut DescriptorEncoder<'b>,
}

impl Gauges<'_, '_> {
    fn write<L: EncodeLabelSet>(
        &mut self,
        name: &str,
        help: &str,
        values: impl Iterator<Item = (L, f64)>,
    ) -> fmt::Result {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in values {
            ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
