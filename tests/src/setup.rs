//! What a test wants of the proxy, put together: the configuration, the plugins with their manifests.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::component::{Component, cache_directory};
use crate::origin::Origin;
use crate::ports::free_address;
use crate::process::{Finished, Process, edgewright};
use crate::proxy::Proxy;

/// A directory with a configuration in the making. Listener, admin address and the place of plugins are
/// given; the rest is the test's.
#[derive(Debug)]
pub struct Setup {
    directory: TempDir,
    address: SocketAddr,
    admin: SocketAddr,
    protocols: &'static str,
    listener: String,
    server: String,
    access_log: String,
    blocks: String,
    descriptors: Option<u64>,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// Two threads, HTTP/1.1, the access log on stdout.
    ///
    /// # Panics
    /// There is no place for temporary files.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("edgewright-test-").tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("plugins")).expect("a directory");
        Self {
            directory,
            address: free_address(),
            admin: free_address(),
            protocols: r#"["h1"]"#,
            listener: String::new(),
            server: String::new(),
            access_log: r#"path = "stdout""#.to_owned(),
            blocks: String::new(),
            descriptors: None,
        }
    }

    /// Adds a line to `[server]`. Without one for `threads`, there are two.
    #[must_use]
    pub fn server(mut self, line: &str) -> Self {
        self.server.push_str(line);
        self.server.push('\n');
        self
    }

    /// Gives the proxy so many descriptors (`ulimit -n`).
    #[must_use]
    pub fn descriptors(mut self, limit: u64) -> Self {
        self.descriptors = Some(limit);
        self
    }

    /// Adds a line to the listener.
    #[must_use]
    pub fn listener(mut self, line: &str) -> Self {
        self.listener.push_str(line);
        self.listener.push('\n');
        self
    }

    /// Puts a file beside the configuration.
    ///
    /// # Panics
    /// It can't be written.
    #[must_use]
    pub fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.directory.path().join(name), text).expect("a file");
        self
    }

    /// HTTP/2 with prior knowledge too.
    #[must_use]
    pub fn with_h2(mut self) -> Self {
        self.protocols = r#"["h1", "h2"]"#;
        self
    }

    /// Replaces what is in `[access-log]`.
    #[must_use]
    pub fn access_log(mut self, lines: &str) -> Self {
        self.access_log = lines.to_owned();
        self
    }

    /// Adds text to the configuration, as it is.
    #[must_use]
    pub fn config(mut self, text: &str) -> Self {
        self.blocks.push_str(text);
        self.blocks.push('\n');
        self
    }

    /// An upstream with this origin as its only peer.
    #[must_use]
    pub fn upstream(self, name: &str, origin: &Origin) -> Self {
        self.peers(name, &[origin.address()])
    }

    /// An upstream with these peers.
    #[must_use]
    pub fn peers(self, name: &str, peers: &[SocketAddr]) -> Self {
        let peers: Vec<String> = peers.iter().map(|peer| format!("\"{peer}\"")).collect();
        self.config(&format!("[upstreams.{name}]\npeers = [{}]", peers.join(", ")))
    }

    /// A route of that name. `inside` is what its table holds beside name and upstream.
    #[must_use]
    pub fn route(self, name: &str, inside: &str, upstream: &str) -> Self {
        self.config(&format!("[[routes]]\nname = \"{name}\"\n{inside}\nupstream = \"{upstream}\""))
    }

    /// A route `all` that takes everything, with this `plugins` array.
    #[must_use]
    pub fn route_all(self, plugins: &str, upstream: &str) -> Self {
        self.route("all", &format!("match = {{ path = \"/*\" }}\nplugins = {plugins}"), upstream)
    }

    /// Puts a component into the plugins directory. No manifest is written where it is empty.
    ///
    /// # Panics
    /// The component isn't built, or can't be written.
    #[must_use]
    pub fn plugin(self, name: &str, component: &Component, manifest: &str) -> Self {
        let plugins = self.directory.path().join("plugins");
        std::fs::write(plugins.join(format!("{name}.wasm")), component.bytes()).expect("a file");
        if !manifest.is_empty() {
            std::fs::write(plugins.join(format!("{name}.toml")), manifest).expect("a file");
        }
        self
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Where the proxy will listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// Writes the configuration and returns its path.
    ///
    /// # Panics
    /// It can't be written.
    pub fn write(&self) -> PathBuf {
        let cache = cache_directory();
        std::fs::create_dir_all(cache.parent().expect("not the root")).expect("a directory");
        let threads = if self.server.contains("threads") { "" } else { "threads = 2\n" };
        let mut text = String::new();
        let _ = writeln!(text, "[server]\n{threads}{}", self.server);
        let _ =
            writeln!(text, "[[listeners]]\naddress = \"{}\"\nprotocols = {}", self.address, self.protocols);
        text.push_str(&self.listener);
        let _ = writeln!(text, "[plugins]\ndir = \"plugins\"\ncache = {:?}", cache.display().to_string());
        let _ = writeln!(text, "[access-log]\n{}", self.access_log);
        let _ = writeln!(text, "[admin]\naddress = \"{}\"\n{}", self.admin, self.blocks);
        let path = self.directory.path().join("edgewright.toml");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Starts the proxy and waits until it is ready.
    ///
    /// # Panics
    /// It doesn't get ready.
    pub fn start(self) -> Proxy {
        let path = self.write();
        let arguments = ["run", "--config", path.to_str().expect("a path in UTF-8")];
        if let Some(limit) = self.descriptors {
            let process = Process::start_within(limit, &arguments, self.directory.path());
            return Proxy::of(process, self.directory, self.address, Some(self.admin));
        }
        Proxy::start(&arguments, self.directory, self.address, Some(self.admin))
    }

    /// Starts the proxy with another configuration file than the one that is written here, and with more arguments.
    ///
    /// # Panics
    /// It doesn't get ready.
    pub fn start_with(self, config: &str, more: &[&str]) -> Proxy {
        self.write();
        let arguments = [&["run", "--config", config], more].concat();
        Proxy::start(&arguments, self.directory, self.address, Some(self.admin))
    }

    /// Starts the proxy with a standard error that nobody reads, and fills that once it is ready.
    ///
    /// # Panics
    /// It doesn't get ready.
    pub fn start_unread(self) -> Proxy {
        let path = self.write();
        let arguments = ["run", "--config", path.to_str().expect("a path in UTF-8")];
        let process = Process::start_unread(&arguments, self.directory.path());
        let mut proxy = Proxy::of(process, self.directory, self.address, Some(self.admin));
        proxy.fill_stderr();
        proxy
    }

    /// Starts a proxy that is expected to give up by itself.
    ///
    /// # Panics
    /// It goes on.
    pub fn run_to_end(&self) -> Finished {
        let path = self.write();
        edgewright(&["run", "--config", path.to_str().expect("a path in UTF-8")], self.directory.path())
    }

    /// Runs a sub-command in the directory, with the configuration written.
    ///
    /// # Panics
    /// It doesn't end.
    pub fn command(&self, arguments: &[&str]) -> Finished {
        self.write();
        edgewright(arguments, self.directory.path())
    }
}
