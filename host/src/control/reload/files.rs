//! The files that a generation is made from. Knows nothing of what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::model::Config;

/// The configuration file, what is in its plugins directory, the plugins that are named one by
/// one, the files that plugins may read, and certificates with their keys.
pub(super) fn of(file: Option<&Path>, config: &Config) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = file.map(Path::to_owned).into_iter().collect();
    if let Some(dir) = &config.plugin_dir {
        // The directory itself may come, go, or be a link that is swapped.
        files.push(dir.clone());
        files.extend(components(dir));
    }
    for plugin in &config.plugins {
        files.extend([plugin.file.clone(), plugin.file.with_extension("toml")]);
        files.extend(plugin.manifest.grants.files.iter().map(|file| file.path.clone()));
    }
    let tls = config.listeners.iter().filter_map(|listener| listener.tls.as_ref());
    files.extend(tls.flat_map(|tls| &tls.identities).flat_map(|identity| identity.files.iter().cloned()));
    files.sort_unstable();
    files.dedup();
    files
}

/// Components and manifests.
fn components(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm" || extension == "toml"))
}
