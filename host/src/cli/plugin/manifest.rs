//! What `edgewright plugin inspect` says of the manifest beside a component: the limits and grants that would hold.
//! Must not know components.

use std::path::Path;

use serde::Serialize;

use crate::config;
use crate::config::model::{Grants, Isolation, Manifest, OnFailure};
use crate::plugin::printable;

/// A manifest, with all its defaults.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ManifestReport {
    isolation: &'static str,
    on_failure: &'static str,
    limits: Limits,
    grants: Vec<String>,
    /// What is wrong in it.
    mistakes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Limits {
    time_ms: u64,
    memory_bytes: usize,
    instances: usize,
    queue_ms: u64,
    calls: u32,
    kept_memory_bytes: usize,
}

impl ManifestReport {
    /// That of the manifest beside a component, or of the defaults where there is none.
    pub(super) fn beside(component: &Path) -> Self {
        let (manifest, found) = config::manifest_beside(component);
        Self::of(&manifest, found.iter().map(ToString::to_string).collect())
    }

    fn of(manifest: &Manifest, mistakes: Vec<String>) -> Self {
        let limits = &manifest.limits;
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            isolation: match manifest.isolation {
                Isolation::Reuse => "reuse",
                Isolation::Fresh => "fresh",
            },
            on_failure: match manifest.on_failure {
                OnFailure::Closed => "closed",
                OnFailure::Open => "open",
            },
            limits: Limits {
                time_ms: millis(limits.time),
                memory_bytes: limits.memory,
                instances: limits.instances,
                queue_ms: millis(limits.queue),
                calls: limits.calls,
                kept_memory_bytes: limits.kept_memory,
            },
            grants: grants(&manifest.grants),
            mistakes,
        }
    }

    /// Lines of a label and a text.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let Limits { time_ms, memory_bytes, instances, queue_ms, calls, kept_memory_bytes } = &self.limits;
        let kib = |bytes: &usize| bytes.div_ceil(1024);
        let mut lines = vec![
            ("isolation", self.isolation.to_owned()),
            ("on failure", self.on_failure.to_owned()),
            (
                "limits",
                format!(
                    "time {time_ms} ms, memory {} KiB, instances {instances} a worker, queue {queue_ms} ms",
                    kib(memory_bytes)
                ),
            ),
            ("", format!("calls {calls} an instance, kept memory {} KiB", kib(kept_memory_bytes))),
            ("grants", if self.grants.is_empty() { "none".to_owned() } else { self.grants.join(", ") }),
        ];
        lines.extend(self.mistakes.iter().map(|mistake| ("manifest", mistake.clone())));
        lines.into_iter().map(|(label, text)| (label, printable(&text).to_string())).collect()
    }
}

/// Each grant with its limit.
fn grants(grants: &Grants) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(grants.kv.map(|bytes| format!("kv ({} KiB)", bytes.div_ceil(1024))));
    all.extend(grants.counter.map(|keys| format!("counter ({keys} keys)")));
    all.extend(grants.metrics.map(|series| format!("metrics ({series} series)")));
    all.extend(grants.http.as_ref().map(|http| {
        let (origins, calls) = (http.origins.len(), http.calls);
        format!("http ({origins} origins, {calls} calls, {} KiB an answer)", http.answer.div_ceil(1024))
    }));
    all.extend(grants.env.iter().map(|name| format!("env `{name}`")));
    all.extend(
        grants.files.iter().map(|file| format!("file `{}` ({} bytes)", file.name, file.content.len())),
    );
    all
}
