//! `[plugins]`: what is in the directory, and what of it routes use. Opens no component.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::plugin_name;
use crate::config::diagnostic::{Diagnostic, Place};
use crate::config::manifest::Beside;
use crate::config::model::Plugin;
use crate::config::raw::Scalar;
use crate::config::scope::Scope;
use crate::config::suggest::Words;
use crate::config::{codes, defaults, file_kind, manifest};
use crate::ids::PluginId;

/// The plugins directory.
#[derive(Debug)]
pub(crate) struct Shelf {
    dir: PathBuf,
    /// Components by name.
    stock: BTreeMap<String, PathBuf>,
    /// What has the name of a component and is no file, with what it is.
    odd: BTreeMap<String, String>,
    names: Words,
    listing: Listing,
    used: Vec<Plugin>,
    /// Where the `config` of each used plugin's manifest is.
    configs: Vec<Option<Place>>,
    ids: HashMap<String, PluginId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Read,
    /// The directory was not asked for, and there is none.
    Absent,
    /// Told already: no name can be called unknown.
    Failed,
}

impl Shelf {
    /// Lists the directory of `dir`, relative to the directory of `config`.
    pub(crate) fn open(scope: &mut Scope, dir: Option<Spanned<String>>, config: &Path) -> Self {
        let base = config.parent().unwrap_or(Path::new(""));
        let path = base.join(dir.as_ref().map_or(defaults::PLUGINS_DIR, |dir| dir.get_ref().as_str()));
        let mut shelf = Self::empty(path, Listing::Read);
        match entries(&shelf.dir) {
            Ok(paths) => shelf.stock_up(scope, paths, config),
            Err(reason) => match dir {
                None if reason.kind() == std::io::ErrorKind::NotFound => shelf.listing = Listing::Absent,
                dir => {
                    let message = format!("`{}` can't be listed: {reason}", shelf.dir.display());
                    let help = "`dir` is relative to the configuration file";
                    let found = Diagnostic::error(codes::PLUGINS_UNREADABLE, message).with_help(help);
                    scope.report(dir.map_or(0..0, |dir| dir.span()), found);
                    shelf.listing = Listing::Failed;
                }
            },
        }
        shelf
    }

    /// Where `[plugins]` could not be read.
    pub(crate) fn unknown() -> Self {
        Self::empty(PathBuf::new(), Listing::Failed)
    }

    fn empty(dir: PathBuf, listing: Listing) -> Self {
        Self {
            dir,
            stock: BTreeMap::new(),
            odd: BTreeMap::new(),
            names: Words::default(),
            listing,
            used: Vec::new(),
            configs: Vec::new(),
            ids: HashMap::new(),
        }
    }

    fn stock_up(&mut self, scope: &mut Scope, paths: Vec<PathBuf>, config: &Path) {
        let mut manifests = Vec::new();
        for path in paths {
            let Some(stem) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else {
                continue;
            };
            let extension = path.extension().and_then(|extension| extension.to_str());
            if !path.is_file() {
                if let (Some("wasm"), Some(odd)) = (extension, file_kind::odd(&path)) {
                    self.odd.insert(stem, odd);
                }
                continue;
            }
            match extension {
                Some("wasm") if plugin_name(&stem).is_ok() => drop(self.stock.insert(stem, path)),
                Some("wasm") => scope.adopt(vec![misnamed(&path, &stem)]),
                Some("toml") if plugin_name(&stem).is_ok() => manifests.push((stem, path)),
                _ => {}
            }
        }
        let config = fs::canonicalize(config).ok();
        for (stem, path) in manifests {
            if !self.stock.contains_key(&stem) && fs::canonicalize(&path).ok() != config {
                scope.adopt(vec![lone(&path, &stem, self.odd.get(&stem))]);
            }
        }
        self.names = Words::new(self.stock.keys().map(String::as_str));
    }

    /// The plugin of that name, which is on the shelf from now on as used; its manifest is read the first
    /// time. Nothing where there is none, which is told.
    pub(super) fn take(&mut self, scope: &mut Scope, name: &Spanned<String>) -> Option<PluginId> {
        if let Some(id) = self.ids.get(name.get_ref()) {
            return Some(*id);
        }
        scope.keep(name.span(), plugin_name(name.get_ref()))?;
        let Some(file) = self.stock.get(name.get_ref()) else {
            if self.listing != Listing::Failed {
                scope.report(name.span(), self.unknown_plugin(name.get_ref()));
            }
            return None;
        };
        let Beside { manifest, config, found } = manifest::beside(file);
        scope.adopt(found);
        self.configs.push(config);
        let id = PluginId::at(self.used.len());
        self.used.push(Plugin {
            name: name.get_ref().as_str().into(),
            file: file.clone(),
            manifest,
            place: Some(scope.place(name.span())),
        });
        self.ids.insert(name.get_ref().clone(), id);
        Some(id)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A used plugin.
    pub(super) fn plugin(&self, id: PluginId) -> Option<&Plugin> {
        self.used.get(id.index())
    }

    /// Where the manifest of a used plugin has its `config`.
    pub(super) fn config_place(&self, id: PluginId) -> Option<&Place> {
        self.configs.get(id.index())?.as_ref()
    }

    /// The used plugins, and the names of the others.
    pub(crate) fn into_parts(self) -> (Vec<Plugin>, Vec<String>) {
        let Self { stock, used, ids, .. } = self;
        (used, stock.into_keys().filter(|name| !ids.contains_key(name)).collect())
    }

    fn unknown_plugin(&self, name: &str) -> Diagnostic {
        let found = Diagnostic::error(codes::UNKNOWN_PLUGIN, format!("unknown plugin `{name}`"));
        let dir = self.dir.display();
        if self.listing == Listing::Absent {
            return found.with_help(format!("there is no directory `{dir}`"));
        }
        if let Some(odd) = self.odd.get(name) {
            return found.with_help(format!("`{}` {odd}", self.dir.join(format!("{name}.wasm")).display()));
        }
        if self.stock.is_empty() {
            return found.with_help(format!("there is no plugin in `{dir}`: it would be `{name}.wasm`"));
        }
        found.with_help(self.names.help(name, &format!("in `{dir}`, there is")))
    }
}

/// What is in a directory, sorted.
fn entries(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// A component as compilers name it (`api_key.wasm`): routes can't name it.
fn misnamed(path: &Path, stem: &str) -> Diagnostic {
    let wanted = stem.to_lowercase().replace(['_', '.', ' '], "-");
    let found =
        Diagnostic::warning(codes::BAD_PLUGIN_NAME, format!("`{stem}` can't be the name of a plugin"))
            .at(Place::whole_file(path));
    match plugin_name(&wanted) {
        Ok(()) => found.with_help(format!("rename the file to `{wanted}.wasm`")),
        Err(reason) => found.with_help(reason.help.unwrap_or_default()),
    }
}

fn lone(path: &Path, stem: &str, odd: Option<&String>) -> Diagnostic {
    let help = match odd {
        Some(odd) => format!("`{stem}.wasm` beside it {odd}"),
        None => format!("put `{stem}.wasm` beside it"),
    };
    Diagnostic::warning(codes::LONE_MANIFEST, format!("there is no plugin `{stem}` to this manifest"))
        .at(Place::whole_file(path))
        .with_help(help)
}

/// Where compiled plugins are kept; `false` turns it off.
pub(crate) fn cache(value: &Scalar, base: &Path) -> Result<Option<PathBuf>, Diagnostic> {
    match value {
        Scalar::Text(text) if text.is_empty() => {
            Err(Diagnostic::error(codes::EMPTY_VALUE, "`cache` is empty")
                .with_help("write `false` to turn it off"))
        }
        Scalar::Text(text) => Ok(Some(base.join(text))),
        Scalar::Boolean(false) => Ok(None),
        other => Err(Diagnostic::error(codes::WRONG_TYPE, format!("`{other}` is not a directory"))
            .with_help("write a directory, `false` to turn it off, or leave it out for the default")),
    }
}

/// `edgewright` in the user's cache directory; nothing where there is none.
pub(crate) fn default_cache() -> Option<PathBuf> {
    let dir = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = dir("XDG_CACHE_HOME").or_else(|| dir("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("edgewright"))
}
