//! The start-up lines: one each for listeners, routes, plugins, workers, clients and admin, on standard error.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

use crate::config::model::Config;
use crate::snapshot::Generation;

use super::Workers;

/// Prints what runs. A closed standard error is no reason not to start.
pub(super) fn lines(
    config: &Config,
    generation: &Generation,
    workers: &Workers,
    room: Room,
    started: Instant,
) {
    let text = render(config, generation, workers, room);
    let mut stderr = std::io::stderr().lock();
    let took = started.elapsed().as_millis();
    let _ = writeln!(stderr, "edgewright {} (loaded in {took} ms)\n{text}", env!("CARGO_PKG_VERSION"));
}

/// What there is for clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// The limit of descriptors; `None` is none.
    pub(super) descriptors: Option<u64>,
    /// Connections that those are enough for.
    pub(super) clients: usize,
}

impl Room {
    fn told(self, limit: Option<u32>) -> String {
        match (limit, self.descriptors) {
            (Some(limit), _) => format!("{limit} at once (max-connections)"),
            (None, Some(descriptors)) => format!("{} at once ({descriptors} descriptors)", self.clients),
            (None, None) => "as many as come (no limit of descriptors)".to_owned(),
        }
    }
}

fn render(config: &Config, generation: &Generation, workers: &Workers, room: Room) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "  {label:<9} {text}");
    };
    for listener in &config.listeners {
        let protocols = if listener.h2 { "HTTP/1.1, HTTP/2" } else { "HTTP/1.1" };
        let scheme = if listener.tls.is_some() { "https" } else { "http" };
        line("listener", format!("{scheme}://{} ({protocols})", listener.address));
    }
    for (model, route) in config.routes.iter().zip(&generation.routes) {
        let plugins: Vec<&str> = route.chain.plugins().map(|plugin| plugin.name()).collect();
        let chain =
            if plugins.is_empty() { String::new() } else { format!("{} → ", plugins.join(" → ")) };
        let action = route.action.told(|id| Some(&**generation.upstreams.get(id)?.name()));
        line("route", format!("{}: {} → {chain}{action}", model.name, model.matcher));
    }
    for plugin in &generation.plugins {
        let version = plugin.version().get(..12).unwrap_or_default();
        let how = if plugin.cached() { "cached" } else { "compiled" };
        let took = plugin.compile_time().as_secs_f64() * 1e3;
        let phases: Vec<&str> = plugin.phases().iter().map(|phase| phase.name()).collect();
        line("plugin", format!("{} {version} ({how}, {took:.0} ms): {}", plugin.name(), phases.join(", ")));
    }
    if !config.unused_plugins.is_empty() {
        line(
            "unused",
            format!("{} (in the plugins directory, on no route)", config.unused_plugins.join(", ")),
        );
    }
    line("workers", format!("{} ({})", workers.count, workers.reason));
    line("clients", room.told(config.server.limits.connections));
    match &config.admin {
        Some(admin) => line("admin", format!("http://{}/status", admin.address)),
        None => line("admin", "off".to_owned()),
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_clients_is_told() {
        let check = |limit, descriptors, expected: &str| {
            assert_eq!(Room { descriptors, clients: 352 }.told(limit), expected);
        };
        check(None, Some(1024), "352 at once (1024 descriptors)");
        check(Some(5), Some(1024), "5 at once (max-connections)");
        check(None, None, "as many as come (no limit of descriptors)");
    }
}
