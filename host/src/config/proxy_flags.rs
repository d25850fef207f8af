//! The configuration of `edgewright proxy`: one listener, one upstream and one route, from flags alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::check::{EndKind, default_cache, peer_is_self, plugin_name, taken, threads};
use super::diagnostic::{Diagnostic, Severity};
use super::manifest::Beside;
use super::model::{
    Action, Admin, Config, Edits, Listener, Match, PeerEntry, PeerSource, Plugin, PluginUse, ProxyProtocol,
    Route, RouteTimeouts, Server,
};
use super::raw::Scalar;
use super::{Checked, address, codes, defaults, file_kind, manifest, overlap, shown};
use crate::ids::{PluginId, UpstreamId};

/// The flags of `edgewright proxy`, as they are given.
#[derive(Debug, Clone, Default)]
pub struct ProxyFlags {
    /// `--to`: the peer, as `HOST:PORT`.
    pub to: String,
    /// `--from`: where to listen; `127.0.0.1:8080` if not given.
    pub from: Option<String>,
    /// `--plugin`: components, in the order of the chain.
    pub plugins: Vec<PathBuf>,
    /// `--threads`; one per CPU if not given.
    pub threads: Option<usize>,
    /// `--admin`: where the admin end listens; there is none if not given.
    pub admin: Option<String>,
}

/// The machine alone: what is tried out is not for the network.
const DEFAULT_FROM: &str = "127.0.0.1:8080";

/// Checks the flags, and reads the manifests beside the plugins.
///
/// # Errors
/// All mistakes of flags and manifests.
pub fn for_proxy(flags: &ProxyFlags) -> Result<Checked, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let default = defaults::server();
    let to = keep(&mut found, "--to", address::peer(&flags.to));
    let from =
        keep(&mut found, "--from", address::listen(flags.from.as_deref().unwrap_or(DEFAULT_FROM), 8080));
    let admin = flags.admin.as_deref().map(|text| keep(&mut found, "--admin", address::listen(text, 9901)));
    let count = flags.threads.map(|number| Scalar::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
    let threads = count.map(|count| keep(&mut found, "--threads", threads(&count)));
    let (plugins, chain) = plugins(&mut found, &flags.plugins);
    let admin = admin.flatten().map(|address| Admin { address });
    if let (Some(from), Some(admin)) = (from, &admin)
        && overlap::clash(from, admin.address)
    {
        keep::<()>(&mut found, "--admin", Err(taken(admin.address, from)));
    }
    let ends = [(EndKind::Listener, from), (EndKind::Admin, admin.as_ref().map(|admin| admin.address))];
    let own = |peer| ends.into_iter().find(|(_, end)| end.is_some_and(|end| overlap::reaches(peer, end)));
    if let Some((peer, (kind, _))) = to.as_ref().and_then(|peer| Some((peer, own(peer)?))) {
        keep::<()>(&mut found, "--to", Err(peer_is_self(peer, kind)));
    }
    let (Some(from), Some(peer)) = (from, to) else { return Err(found) };
    if found.iter().any(|found| found.severity == Severity::Error) {
        return Err(found);
    }
    let peer = PeerEntry { source: PeerSource::Socket(peer), weight: 1 };
    let server = Server { threads: threads.flatten().unwrap_or(default.threads), ..default };
    let config = Config {
        server,
        dns: defaults::dns(),
        listeners: vec![Listener { address: from, h2: false, proxy_protocol: ProxyProtocol::Off, tls: None }],
        upstreams: vec![defaults::upstream("default".into(), vec![peer])],
        shown: shown::of_flags(&flags.to, &plugins),
        plugins,
        unused_plugins: Vec::new(),
        routes: vec![Route {
            name: "default".into(),
            matcher: Match::default(),
            chain,
            action: Action::Upstream(UpstreamId(0)),
            edits: Edits::default(),
            max_body: None,
            mirror: None,
            timeouts: RouteTimeouts::default(),
            grpc_web: false,
            logged: true,
            place: None,
        }],
        access_log: Some(defaults::access_log()),
        admin,
        plugin_dir: None,
        plugin_cache: default_cache(),
    };
    Ok(Checked { config, warnings: found })
}

fn keep<T>(found: &mut Vec<Diagnostic>, flag: &str, checked: Result<T, Diagnostic>) -> Option<T> {
    checked
        .map_err(|mut diagnostic| {
            diagnostic.message = format!("`{flag}`: {}", diagnostic.message);
            found.push(diagnostic);
        })
        .ok()
}

fn plugins(found: &mut Vec<Diagnostic>, files: &[PathBuf]) -> (Vec<Plugin>, Vec<PluginUse>) {
    let mut names: HashMap<String, &Path> = HashMap::new();
    let mut plugins = Vec::new();
    let mut chain = Vec::new();
    for file in files {
        let Some(name) = keep(found, "--plugin", name(file)) else { continue };
        if let Some(first) = names.insert(name.clone(), file) {
            let message = format!("`--plugin`: `{}` and `{}` have one name", first.display(), file.display());
            found.push(Diagnostic::error(codes::PLUGIN_TWICE, message).with_help("rename one of the files"));
            continue;
        }
        let Beside { manifest, config: place, found: mistakes } = manifest::beside(file);
        found.extend(mistakes);
        let config = manifest.config.clone();
        chain.push(PluginUse { plugin: PluginId::at(plugins.len()), config, rollout: None, place });
        plugins.push(Plugin { name: name.into(), file: file.clone(), manifest, place: None });
    }
    (plugins, chain)
}

/// The stem of the file's name.
fn name(file: &Path) -> Result<String, Diagnostic> {
    let shown = file.display();
    if file.extension().is_none_or(|extension| extension != "wasm") {
        let found = Diagnostic::error(codes::UNKNOWN_PLUGIN, format!("`{shown}` is not a component"));
        return Err(found.with_help("name a `.wasm` file"));
    }
    if let Some(odd) = file_kind::odd(file) {
        let found = Diagnostic::error(codes::UNKNOWN_PLUGIN, format!("`{shown}` {odd}"));
        return Err(found.with_help("name a `.wasm` file"));
    }
    if !file.is_file() {
        let found = Diagnostic::error(codes::UNKNOWN_PLUGIN, format!("there is no file `{shown}`"));
        return Err(found.with_help("paths are relative to the current directory"));
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    plugin_name(&stem).map(|()| stem)
}
