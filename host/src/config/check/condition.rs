//! Conditions on request headers that tell no requests apart: what the proxy takes out of a request, or puts
//! into it, before it looks for a route. Follows what `proxy` does in its early phase, which it can't import.

use http::HeaderName;

use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Server, UnderscoreHeaders, ValuePattern};

/// What a route sees of a field.
enum Fate {
    /// Taken out, for this reason.
    Gone(String),
    /// There in some requests, with this value alone, for this reason.
    Only(&'static str, &'static str),
    /// There in every request, with this value, for this reason.
    Always(&'static str, &'static str),
    /// There in every request, with a value of this kind.
    Made(Value),
    /// As the client sent it.
    Passed,
}

#[derive(Clone, Copy)]
enum Value {
    /// The address of the connection.
    Address,
    /// A random id.
    Random,
    /// What a trusted proxy says.
    Any,
}

/// A warning, where the condition never or always holds.
pub(super) fn review(server: &Server, name: &HeaderName, pattern: &ValuePattern) -> Option<Diagnostic> {
    let never = |reason: &str| warning(name, "never", reason, "leave the route or the condition out");
    let always = |reason: &str| warning(name, "always", reason, "leave the condition out");
    let present = matches!(pattern, ValuePattern::Present);
    match fate(server, name.as_str()) {
        Fate::Passed => None,
        Fate::Gone(reason) => Some(never(&reason)),
        Fate::Only(value, _) if holds(pattern, value) => None,
        Fate::Only(_, reason) => Some(never(reason)),
        Fate::Always(value, reason) if holds(pattern, value) => Some(always(reason)),
        Fate::Always(_, reason) => Some(never(reason)),
        Fate::Made(_) if present => Some(always("the proxy puts it into every request")),
        Fate::Made(value) => match (value, pattern) {
            (Value::Address, ValuePattern::Exact(text)) if text.parse::<std::net::IpAddr>().is_err() => {
                Some(never("without `trusted-proxies`, it is the address of the connection alone"))
            }
            (Value::Random, ValuePattern::Exact(_)) => {
                Some(never("without `trusted-proxies`, the proxy makes a new one for each request"))
            }
            _ => None,
        },
    }
}

fn warning(name: &HeaderName, when: &str, reason: &str, help: &str) -> Diagnostic {
    let message = format!("the condition on `{name}` {when} holds: {reason}");
    Diagnostic::warning(codes::IDLE_CONDITION, message).with_help(help)
}

fn fate(server: &Server, name: &str) -> Fate {
    let untrusted = server.trusted_proxies.is_empty();
    match name {
        // Of requests that ask for another protocol, `upgrade` passes as it is.
        "connection" => {
            return Fate::Only(
                "upgrade",
                "the proxy takes it out, or makes it `upgrade` where the client asks for that",
            );
        }
        "te" => return Fate::Only("trailers", "the proxy takes every value but `trailers` out"),
        "keep-alive" | "proxy-connection" | "proxy-authenticate" => {
            return Fate::Gone("the field ends at the proxy, which takes it out".to_owned());
        }
        "x-request-id" => return Fate::Made(if untrusted { Value::Random } else { Value::Any }),
        "x-forwarded-for" => return Fate::Made(if untrusted { Value::Address } else { Value::Any }),
        "x-forwarded-proto" if untrusted => {
            return Fate::Always("http", "the proxy makes it `http` while `trusted-proxies` is empty");
        }
        "x-forwarded-proto" => return Fate::Made(Value::Any),
        _ => {}
    }
    let folded = name.replace('_', "-");
    if let Some(own) = server.owned_headers.iter().find(|own| is_taken_for(own.as_str(), name)) {
        return Fate::Gone(format!("`{own}` is in `owned-headers`, so that it is taken out of requests"));
    }
    if name.contains('_') && server.underscore_headers == UnderscoreHeaders::Drop {
        return Fate::Gone(
            "names with `_` are taken out while `underscore-headers` is `\"drop\"`".to_owned(),
        );
    }
    let forwarding = folded == "forwarded" || folded == "x-real-ip" || folded.starts_with("x-forwarded-");
    if untrusted && forwarding {
        return Fate::Gone("it is taken out while `trusted-proxies` is empty".to_owned());
    }
    Fate::Passed
}

/// Whether a field is taken out with an owned one: it is that field, or a spelling of it with `_` that
/// applications may take for it.
fn is_taken_for(own: &str, name: &str) -> bool {
    own == name || (name.contains('_') && own.replace('_', "-") == name.replace('_', "-"))
}

fn holds(pattern: &ValuePattern, value: &str) -> bool {
    match pattern {
        ValuePattern::Present => true,
        ValuePattern::Exact(text) => text == value,
        ValuePattern::Prefix(text) => value.starts_with(text.as_str()),
        ValuePattern::Regex(regex) => regex.is_match(value.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::defaults;

    fn check(server: &Server, name: &'static str, pattern: &ValuePattern, expected: Option<&str>) {
        let found = review(server, &HeaderName::from_static(name), pattern).map(|found| found.message);
        let fits = match (&found, expected) {
            (Some(found), Some(part)) => found.contains(part),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(fits, "{name} {pattern:?}: {found:?} and not {expected:?}");
    }

    fn exact(text: &str) -> ValuePattern {
        ValuePattern::Exact(text.into())
    }

    #[test]
    fn what_the_proxy_takes_out_or_makes_is_told() {
        use ValuePattern::Present;
        let server = Server { owned_headers: vec![HeaderName::from_static("x-user")], ..defaults::server() };
        check(&server, "x-tenant", &exact("a"), None);
        check(&server, "connection", &exact("Upgrade"), Some("never holds"));
        check(&server, "connection", &exact("upgrade"), None);
        check(&server, "connection", &Present, None);
        check(&server, "upgrade", &exact("websocket"), None);
        check(&server, "te", &exact("trailers"), None);
        check(&server, "te", &exact("gzip"), Some("never holds"));
        check(&server, "keep-alive", &Present, Some("never holds"));
        check(&server, "proxy-connection", &Present, Some("never holds"));
        check(&server, "x-user", &exact("a"), Some("`x-user` is in `owned-headers`"));
        check(&server, "x_user", &exact("a"), Some("`x-user` is in `owned-headers`"));
        check(&server, "x_other", &exact("a"), Some("`underscore-headers`"));
        check(&server, "forwarded", &Present, Some("`trusted-proxies` is empty"));
        check(&server, "x-forwarded-host", &exact("a"), Some("`trusted-proxies` is empty"));
        check(&server, "x-real-ip", &exact("a"), Some("`trusted-proxies` is empty"));
        check(&server, "x-forwarded-for", &Present, Some("always holds"));
        check(&server, "x-forwarded-for", &exact("10.0.0.7"), None);
        check(&server, "x-forwarded-for", &exact("10.0.0.7, 10.0.0.8"), Some("never holds"));
        check(&server, "x-forwarded-proto", &exact("https"), Some("never holds"));
        check(&server, "x-forwarded-proto", &exact("http"), Some("always holds"));
        check(&server, "x-request-id", &Present, Some("always holds"));
        check(&server, "x-request-id", &exact("a"), Some("never holds"));
    }

    #[test]
    fn what_trusted_proxies_say_and_what_is_kept_tells_requests_apart() {
        use ValuePattern::Present;
        let server = Server {
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            underscore_headers: UnderscoreHeaders::Keep,
            ..defaults::server()
        };
        for name in
            ["forwarded", "x-forwarded-host", "x-forwarded-proto", "x-request-id", "x_forwarded_for", "x_a"]
        {
            check(&server, name, &exact("a"), None);
        }
        check(&server, "x-forwarded-for", &Present, Some("always holds"));
        let server = Server { underscore_headers: UnderscoreHeaders::Keep, ..defaults::server() };
        check(&server, "x_real_ip", &Present, Some("`trusted-proxies` is empty"));
    }
}
