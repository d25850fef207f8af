//! The Edgewright set-ups: writes a configuration and its plugins directory, and starts the proxy. Knows
//! its command line and its files, nothing of its code.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::contender::{KEY, Target, request_mark, response_mark};
use crate::process::Process;
use crate::scene::{Role, Scene, free_address};

/// What one Edgewright is started with.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) threads: Threads,
    /// `HOST:PORT` of the peers, with commas between them.
    pub(crate) peer: String,
    /// More lines of the upstream.
    pub(crate) upstream: &'static str,
    pub(crate) plugins: Vec<Guest>,
    /// Whether an instance serves many requests or one.
    pub(crate) isolation: Isolation,
    /// More lines of each plugin's manifest.
    pub(crate) manifest: String,
    /// Routes of the file; the one in the middle is asked.
    pub(crate) routes: u32,
    /// Whether there is a route `/bystander` without plugins.
    pub(crate) bystander: bool,
    /// Where a route `/slow` without plugins goes.
    pub(crate) slow: Option<SocketAddr>,
    pub(crate) access_log: AccessLog,
    /// The DNS server, where the peer is a name.
    pub(crate) dns: Option<SocketAddr>,
    /// Name of the directory of compiled plugins in the scene.
    pub(crate) cache: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    One,
    Two,
    /// The CPU quota.
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLog {
    Off,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    Reuse,
    Fresh,
}

/// One plugin of the chain.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) component: PathBuf,
    pub(crate) settings: Settings,
}

/// The configuration that a guest takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settings {
    /// The key, and the header it sets in each phase it has.
    KeyAndMarks,
    None,
}

/// A started Edgewright.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) process: Process,
    pub(crate) target: Target,
    /// Where its plugins are.
    pub(crate) plugins: PathBuf,
    /// From the start to the first connection that was taken.
    pub(crate) start: Duration,
}

impl Setup {
    /// No plugin, one route, no access log, one worker.
    pub(crate) fn plain(peer: impl ToString) -> Self {
        Self {
            threads: Threads::One,
            peer: peer.to_string(),
            upstream: "",
            plugins: Vec::new(),
            isolation: Isolation::Reuse,
            manifest: String::new(),
            routes: 1,
            bystander: false,
            slow: None,
            access_log: AccessLog::Off,
            dns: None,
            cache: "cache".to_owned(),
        }
    }

    /// Writes the files of this set-up and says how to start it: the command, and where it will listen.
    ///
    /// # Errors
    /// Where a file can't be written.
    pub(crate) fn prepare(&self, scene: &Scene, name: &str, program: &Path) -> Result<(Vec<String>, Target)> {
        let address = free_address()?;
        let plugins = scene.directory(&format!("{name}/plugins"))?;
        for (number, guest) in (1..).zip(&self.plugins) {
            let path = plugins.join(plugin_name(number));
            fs::copy(&guest.component, path.with_extension("wasm"))
                .with_context(|| format!("can't copy `{}`", guest.component.display()))?;
            let isolation = match self.isolation {
                Isolation::Reuse => "reuse",
                Isolation::Fresh => "fresh",
            };
            fs::write(
                path.with_extension("toml"),
                format!("isolation = \"{isolation}\"\n{}\n", self.manifest),
            )?;
        }
        let text = self.render(scene, name, address, free_address()?, &plugins)?;
        let config = scene.write(&format!("{name}/edgewright.toml"), &text)?;
        let command = [program, Path::new("run"), Path::new("--config"), &config];
        let command = command.iter().map(|word| word.display().to_string()).collect();
        Ok((command, self.target(address)))
    }

    /// Starts it.
    ///
    /// # Errors
    /// Where it does not start.
    pub(crate) async fn start(&self, scene: &Scene, name: &str, program: &Path) -> Result<Running> {
        let (command, target) = self.prepare(scene, name, program)?;
        let mut process = Process::start(scene, name, Role::Proxy, &command)?;
        let start = process.ready(target.address).await?;
        let plugins = scene.path(&format!("{name}/plugins"));
        Ok(Running { process, target, plugins, start })
    }

    fn target(&self, address: SocketAddr) -> Target {
        let mut target = Target::new(address);
        if self.routes > 1 {
            let number = self.routes / 2;
            target.headers.push(("host".to_owned(), self.host(number)));
            target.path = format!("/r{number}/item");
        }
        target
    }

    fn render(
        &self,
        scene: &Scene,
        name: &str,
        address: SocketAddr,
        admin: SocketAddr,
        plugins: &Path,
    ) -> Result<String> {
        let mut text = String::new();
        match self.threads {
            Threads::One => text.push_str("[server]\nthreads = 1\n\n"),
            Threads::Two => text.push_str("[server]\nthreads = 2\n\n"),
            Threads::Auto => text.push_str("[server]\nthreads = \"auto\"\n\n"),
        }
        write!(text, "[[listeners]]\naddress = \"{address}\"\n\n[admin]\naddress = \"{admin}\"\n\n")?;
        if let Some(server) = self.dns {
            write!(text, "[dns]\nservers = [\"{server}\"]\nmin-ttl = \"1s\"\n\n")?;
        }
        let peers: Vec<String> = self.peer.split(',').map(|peer| format!("\"{peer}\"")).collect();
        write!(text, "[upstreams.origin]\npeers = [{}]\n{}\n\n", peers.join(", "), self.upstream)?;
        let (plugins, cache) = (plugins.display(), scene.path(&self.cache));
        write!(text, "[plugins]\ndir = \"{plugins}\"\ncache = \"{}\"\n\n", cache.display())?;
        match self.access_log {
            AccessLog::Off => text.push_str("[access-log]\nenabled = false\n\n"),
            AccessLog::File => {
                let path = scene.path(&format!("{name}/access.log"));
                write!(text, "[access-log]\nformat = \"json\"\npath = \"{}\"\n\n", path.display())?;
            }
        }
        let chain = self.chain();
        for number in 0..self.routes {
            let matcher = match self.routes {
                1 => "path = \"/*\"".to_owned(),
                _ => format!("host = \"{}\", path = \"/r{number}/*\"", self.host(number)),
            };
            write!(
                text,
                "[[routes]]\nname = \"r{number}\"\nmatch = {{ {matcher} }}\nplugins = [{chain}]\n\
                 upstream = \"origin\"\n\n"
            )?;
        }
        if self.bystander {
            text.push_str(
                "[[routes]]\nname = \"bystander\"\nmatch = { path = \"/bystander\" }\nupstream = \"origin\"\n",
            );
        }
        if let Some(address) = self.slow {
            write!(
                text,
                "[upstreams.slow]\npeers = [\"{address}\"]\n[[routes]]\nname = \"slow\"\nmatch = {{ path = \"/slow\" }}\n\
                 upstream = \"slow\"\n"
            )?;
        }
        Ok(text)
    }

    /// Hosts and paths grow alike: 10,000 routes are 100 hosts with 100 paths each.
    fn host(&self, number: u32) -> String {
        format!("h{}.bench.test", number % self.routes.isqrt().max(1))
    }

    fn chain(&self) -> String {
        let uses = (1..).zip(&self.plugins).map(|(number, guest)| {
            let name = plugin_name(number);
            match guest.settings {
                Settings::None => format!("\"{name}\""),
                Settings::KeyAndMarks => format!(
                    "{{ name = \"{name}\", config = {{ key = \"{KEY}\", request-header = \"{}\", \
                     response-header = \"{}\" }} }}",
                    request_mark(number),
                    response_mark(number)
                ),
            }
        });
        uses.collect::<Vec<_>>().join(", ")
    }
}

fn plugin_name(number: u32) -> String {
    format!("bench-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_route_in_the_middle_is_asked() {
        let check = |routes: u32, path: &str, host: Option<&str>| {
            let setup = Setup { routes, ..Setup::plain("127.0.0.1:1") };
            let target = setup.target(SocketAddr::from(([127, 0, 0, 1], 2)));
            let seen = target.headers.iter().find(|(name, _)| name == "host").map(|(_, host)| host.as_str());
            assert_eq!((target.path.as_str(), seen), (path, host));
        };
        check(1, "/", None);
        check(10, "/r5/item", Some("h2.bench.test"));
        check(10_000, "/r5000/item", Some("h0.bench.test"));
    }

    #[test]
    fn chains() {
        let check = |settings: &[Settings], expected: &str| {
            let guest = |&settings| Guest { component: PathBuf::new(), settings };
            let plugins = settings.iter().map(guest).collect();
            assert_eq!(Setup { plugins, ..Setup::plain("127.0.0.1:1") }.chain(), expected);
        };
        check(&[], "");
        check(&[Settings::None, Settings::None], "\"bench-1\", \"bench-2\"");
        check(
            &[Settings::KeyAndMarks],
            "{ name = \"bench-1\", config = { key = \"a-key-of-the-bench\", \
             request-header = \"x-consumer-1\", response-header = \"x-edge-1\" } }",
        );
    }
}
