//! Lets so many requests through in a span of time, and no more. Must not know how requests are counted.

mod config;
mod key;

use std::time::Duration;

use edgewright_sdk::CounterError;
use edgewright_sdk::counter::{self, Rule, Standing};
use edgewright_sdk::prelude::*;

use config::{Config, WhenFull};

struct RateLimit {
    config: Config,
    rule: Rule,
    /// `RateLimit-Policy` of every response.
    policy: String,
    /// Where the value of `RateLimit` waits for the response.
    attribute: String,
}

#[plugin]
impl Plugin for RateLimit {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        let rule = config.rule()?;
        let policy = format!("\"{}\";q={};w={}", config.name, rule.limit, rule.span.as_secs());
        Ok(Self { attribute: format!("rate-limit.{}", config.name), policy, rule, config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        match counter::take(&key::of(request, &self.config), 1, self.rule) {
            Ok(standing) => {
                if self.config.headers {
                    self.keep(request, &standing);
                }
                if standing.allowed { Verdict::Next } else { refused(standing.retry) }
            }
            Err(error) => self.uncounted(error),
        }
    }

    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        let Some(standing) = request.attribute(&self.attribute) else { return Verdict::Next };
        for (name, value) in [("ratelimit-policy", self.policy.as_bytes()), ("ratelimit", &standing)] {
            // Several limits of a chain are several items of one list.
            if let Err(error) = response.append_header(name, value) {
                log::warn!("header `{name}` was not set: {error}");
            }
        }
        Verdict::Next
    }
}

impl RateLimit {
    fn keep(&self, request: &Request, standing: &Standing) {
        let (remaining, reset) = (standing.remaining, seconds(standing.reset));
        let value = format!("\"{}\";r={remaining};t={reset}", self.config.name);
        if let Err(error) = request.set_attribute(&self.attribute, value) {
            log::warn!("attribute `{}` was not set: {error}", self.attribute);
        }
    }

    /// There is no room for one more client.
    fn uncounted(&self, error: CounterError) -> Verdict {
        log::warn!("a request was not counted: {error}");
        match self.config.when_full {
            WhenFull::Allow => Verdict::Next,
            WhenFull::Refuse => refused(self.rule.span),
        }
    }
}

fn refused(retry: Duration) -> Verdict {
    Response::new(429)
        .header("retry-after", seconds(retry).max(1).to_string())
        .header("content-type", "text/plain; charset=utf-8")
        .header("cache-control", "no-store")
        .body("too many requests\n")
        .into()
}

/// Rounded up: a client that waits as long is not too early.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing::{self, Exchange};

    use super::*;

    fn plugin(extra: &str) -> RateLimit {
        testing::configure(&format!(r#"{{ "limit": 2, "per": "10s" {extra} }}"#)).unwrap()
    }

    /// How many of three requests pass.
    fn passed(plugin: &RateLimit, exchange: impl Fn() -> Exchange) -> usize {
        (0..3).filter(|_| exchange().on_request(plugin).verdict == Verdict::Next).count()
    }

    #[test]
    fn a_client_over_the_limit_is_told_when_to_come_back() {
        let plugin = plugin(r#", "window": "fixed""#);
        assert_eq!(passed(&plugin, || Exchange::get("/")), 2);
        testing::advance(Duration::from_millis(2_500));
        let mut refused = Exchange::get("/");
        refused.on_request(&plugin);
        refused.on_response(&plugin);
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.response_header("retry-after").unwrap(), "8");
        assert_eq!(refused.response_header("ratelimit-policy").unwrap(), r#""default";q=2;w=10"#);
        assert_eq!(refused.response_header("ratelimit").unwrap(), r#""default";r=0;t=8"#);
        testing::advance(Duration::from_millis(7_500));
        assert_eq!(passed(&plugin, || Exchange::get("/")), 2);
    }

    #[test]
    fn a_sliding_window_is_the_default() {
        let plugin = plugin("");
        assert_eq!(passed(&plugin, || Exchange::get("/")), 2);
        testing::advance(Duration::from_secs(10));
        assert_eq!(passed(&plugin, || Exchange::get("/")), 0);
        testing::advance(Duration::from_secs(1));
        assert_eq!(passed(&plugin, || Exchange::get("/")), 2);
    }

    #[test]
    fn clients_are_counted_apart() {
        let by_address = plugin("");
        for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
            assert_eq!(passed(&by_address, || Exchange::get("/").client_address(address)), 2, "{address}");
        }
        let neighbour = || Exchange::get("/").client_address("2001:db8::2");
        assert_eq!(passed(&by_address, neighbour), 0, "of a network that is full");
        assert_eq!(
            passed(&by_address, || Exchange::get("/").route("other")),
            2,
            "routes count for themselves"
        );

        let by_header = plugin(r#", "by": { "header": "x-tenant" }, "name": "tenant""#);
        assert_eq!(passed(&by_header, || Exchange::get("/").header("X-Tenant", "a")), 2);
        assert_eq!(passed(&by_header, || Exchange::get("/").header("X-Tenant", "b")), 2);
        assert_eq!(passed(&by_header, || Exchange::get("/")), 2, "by the client's address");
        let named = || Exchange::get("/").header("x-tenant", "192.0.2.1");
        assert_eq!(passed(&by_header, named), 2, "which no header can pretend to be");

        let by_owner =
            plugin(r#", "by": { "attribute": "api-key.owner" }, "name": "owner", "scope": "plugin""#);
        let alice = |route: &str| Exchange::get("/").route(route).with_attribute("api-key.owner", "alice");
        assert_eq!(passed(&by_owner, || alice("a")), 2);
        assert_eq!(passed(&by_owner, || alice("b")), 0);

        let all = plugin(r#", "by": "all", "name": "all""#);
        assert_eq!(passed(&all, || Exchange::get("/")), 2);
        assert_eq!(passed(&all, || Exchange::get("/").client_address("192.0.2.9")), 0);
    }

    #[test]
    fn headers_can_be_left_out() {
        let plugin = plugin(r#", "headers": false"#);
        let mut exchange = Exchange::get("/");
        exchange.on_request(&plugin);
        exchange.on_response(&plugin);
        assert_eq!(exchange.response_header("ratelimit"), None);
    }
}
