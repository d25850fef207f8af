//! What a running process can't change: what its threads and its admin end were made from. A configuration that changes it
//! is refused as a whole, because half of a file would be nobody's wish. Knows no sockets.

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::Config;

/// Every difference that needs a restart.
pub(super) fn needed(running: &Config, wanted: &Config) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut differs = |differs: bool, what: &str| {
        if differs {
            found.push(needs_restart(format!("{what} changed")));
        }
    };
    differs(running.server.threads != wanted.server.threads, "`server.threads`");
    differs(running.server.grace != wanted.server.grace, "`server.grace`");
    differs(running.server.drain_delay != wanted.server.drain_delay, "`server.drain-delay`");
    differs(running.admin != wanted.admin, "`[admin]`");
    differs(running.plugin_cache != wanted.plugin_cache, "`plugins.cache`");
    found
}

fn needs_restart(what: String) -> Diagnostic {
    Diagnostic::error(codes::NEEDS_RESTART, format!("{what}, which can't be while the proxy runs"))
        .with_help("restart the proxy, or take the change back; nothing of the new configuration is in use")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProxyFlags, for_proxy};

    fn config(from: &str, threads: usize, admin: Option<&str>) -> Config {
        let flags = ProxyFlags {
            to: "127.0.0.1:9".to_owned(),
            from: Some(from.to_owned()),
            plugins: Vec::new(),
            threads: Some(threads),
            admin: admin.map(str::to_owned),
        };
        for_proxy(&flags).unwrap().config
    }

    #[test]
    fn each_difference_is_told() {
        let running = config("127.0.0.1:8080", 2, None);
        let check = |wanted: &Config, expected: &[&str]| {
            let found: Vec<String> = needed(&running, wanted).into_iter().map(|it| it.message).collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (message, start) in found.iter().zip(expected) {
                assert!(message.starts_with(start), "{message}");
            }
        };
        check(&config("127.0.0.1:8080", 2, None), &[]);
        check(&config("127.0.0.1:8081", 2, None), &[]);
        check(&config("127.0.0.1:8080", 3, None), &["`server.threads` changed"]);
        check(&config("127.0.0.1:8080", 2, Some("127.0.0.1:9901")), &["`[admin]` changed"]);
        let mut other = config("127.0.0.1:8080", 2, None);
        other.listeners[0].h2 = true;
        check(&other, &[]);
        other.server.grace *= 2;
        other.plugin_cache = Some("elsewhere".into());
        check(&other, &["`server.grace` changed", "`plugins.cache` changed"]);
    }
}
