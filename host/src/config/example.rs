//! One right value for each key, to show where a wrong one stands. A test reads them all back.

/// Keys and lines, by the name of the key, with its section where that matters.
const EXAMPLES: &[(&str, &str)] = &[
    ("access-log", "[access-log]"),
    ("access-log.path", "path = \"stdout\""),
    ("add-prefix", "add-prefix = \"/v2\""),
    ("address", "address = \"127.0.0.1:8080\""),
    ("admin", "[admin]"),
    ("admin.address", "address = \"127.0.0.1:9901\""),
    ("append", "append = { x-a = \"1\" }"),
    ("attributes", "attributes = [\"api-key.owner\"]"),
    ("body", "body = \"30s\""),
    ("cache", "cache = \"cache\""),
    ("calls", "calls = 100000"),
    ("cert", "cert = \"certs/site.pem\""),
    ("client-auth", "client-auth = \"required\""),
    ("client-ca", "client-ca = \"certs/clients.pem\""),
    ("config", "config = { percent = 5 }"),
    ("connect", "connect = \"1s\""),
    ("cookie", "cookie = { session = \"a\" }"),
    ("counter", "counter = true"),
    ("counters", "counters = 65536"),
    ("description", "description = \"Checks X-Api-Key\""),
    ("dir", "dir = \"plugins\""),
    ("dns", "[dns]"),
    ("drain-delay", "drain-delay = \"1s\""),
    ("enabled", "enabled = false"),
    ("exact", "exact = \"a\""),
    ("failures", "failures = 20"),
    ("file", "file = \"page.html\""),
    ("format", "format = \"json\""),
    ("grace", "grace = \"10s\""),
    ("grants", "grants = { kv = true }"),
    ("handshake", "handshake = \"10s\""),
    ("header", "header = { x-tenant = \"a\" }"),
    ("header-bytes", "header-bytes = \"32KiB\""),
    ("header-lines", "header-lines = 100"),
    ("headers", "headers = { cache-control = \"no-store\" }"),
    ("host", "host = \"api.example.com\""),
    ("idle", "idle = \"60s\""),
    ("instances", "instances = 64"),
    ("isolation", "isolation = \"reuse\""),
    ("kept-memory", "kept-memory = \"12MiB\""),
    ("key", "key = \"certs/site.key\""),
    ("kv", "kv = true"),
    ("limits", "limits = { time = \"10ms\", memory = \"16MiB\" }"),
    ("listeners", "[[listeners]]"),
    ("longest-pause", "longest-pause = \"60s\""),
    ("match", "match = { path = \"/v1/*\" }"),
    ("max-ttl", "max-ttl = \"1h\""),
    ("memory", "memory = \"16MiB\""),
    ("method", "method = [\"GET\", \"HEAD\"]"),
    ("min-ttl", "min-ttl = \"5s\""),
    ("name", "name = \"api\""),
    ("names", "names = [\"example.com\", \"*.example.com\"]"),
    ("on-failure", "on-failure = \"open\""),
    ("owned-headers", "owned-headers = [\"x-user\"]"),
    ("path", "path = \"/v1/*\""),
    ("pattern", "pattern = \"^/old/(.*)$\""),
    ("pause", "pause = \"1s\""),
    ("peer.address", "address = \"api.internal:8080\""),
    ("peers", "peers = [\"api.internal:8080\", \"10.0.0.7:80\"]"),
    ("plugin.name", "name = \"api-key\""),
    ("plugins", "[plugins]"),
    ("prefix", "prefix = \"a\""),
    ("present", "present = true"),
    ("protocols", "protocols = [\"h1\", \"h2\"]"),
    ("proxy-protocol", "proxy-protocol = \"required\""),
    ("quarantine", "quarantine = { failures = 20, window = \"10s\" }"),
    ("query", "query = { version = \"2\" }"),
    ("queue", "queue = \"50ms\""),
    ("read", "read = \"30s\""),
    ("redirect", "redirect = { to = \"https://{host}{path}{query}\" }"),
    ("redirect.host", "host = \"example.com\""),
    ("redirect.path", "path = \"/new\""),
    ("regex", "regex = \"^[0-9]+$\""),
    ("remove", "remove = [\"x-a\"]"),
    ("request-headers", "request-headers = { set = { x-route = \"{route}\" } }"),
    ("requests", "requests = 10000"),
    ("respond", "respond = { status = 200, body = \"ok\" }"),
    ("respond.body", "body = \"ok\""),
    ("response-headers", "response-headers = { remove = [\"server\"] }"),
    ("retry", "retry = \"5s\""),
    ("rewrite", "rewrite = { pattern = \"^/old/(.*)$\", to = \"/new/$1\" }"),
    ("rewrite.to", "to = \"/new/$1\""),
    ("routes", "[[routes]]"),
    ("routes.host", "host = \"api.internal\""),
    ("routes.path", "path = { strip-prefix = \"/api\" }"),
    ("routes.plugins", "plugins = [\"api-key\"]"),
    ("routes.query", "query = { remove = [\"utm_source\"] }"),
    ("scheme", "scheme = \"https\""),
    ("server", "[server]"),
    ("server-timing", "server-timing = \"header:x-debug-timing\""),
    ("servers", "servers = [\"127.0.0.1:53\"]"),
    ("set", "set = { x-a = \"1\" }"),
    ("stale-max", "stale-max = \"1h\""),
    ("status", "status = 302"),
    ("streams", "streams = 100"),
    ("strip-prefix", "strip-prefix = \"/api\""),
    ("target-bytes", "target-bytes = \"8KiB\""),
    ("threads", "threads = \"auto\""),
    ("time", "time = \"10ms\""),
    ("timeout", "timeout = \"2s\""),
    ("timeouts", "timeouts = { connect = \"1s\", read = \"30s\" }"),
    ("tls", "tls = [{ cert = \"certs/site.pem\", key = \"certs/site.key\" }]"),
    ("tls-min-version", "tls-min-version = \"1.3\""),
    ("to", "to = \"https://{host}{path}{query}\""),
    ("trusted-proxies", "trusted-proxies = [\"10.0.0.0/8\"]"),
    ("tunnel", "tunnel = \"1h\""),
    ("underscore-headers", "underscore-headers = \"keep\""),
    ("upstream", "upstream = \"api\""),
    ("upstreams", "[upstreams.api]"),
    ("watch", "watch = true"),
    ("window", "window = \"10s\""),
    ("write", "write = \"30s\""),
];

/// A line with that key, as it is in that section.
pub(crate) fn of(section: &str, key: &str) -> Option<&'static str> {
    let line = |wanted: &str| EXAMPLES.iter().find(|(name, _)| *name == wanted).map(|(_, line)| *line);
    line(&format!("{section}.{key}")).or_else(|| line(key))
}

/// The same, in backticks.
pub(crate) fn quoted(section: &str, key: &str) -> String {
    format!("`{}`", of(section, key).unwrap_or(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_toml_with_its_key() {
        for (key, line) in EXAMPLES {
            let table: toml::Table = toml::from_str(line).unwrap();
            let key = key.rsplit('.').next().unwrap();
            assert!(table.contains_key(key), "{line}");
        }
        assert!(EXAMPLES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
