//! Sends a share of the requests to another upstream, and keeps each client where it was sent. Must not know
//! how the share is drawn.

mod choice;
mod config;
mod share;

use edgewright_sdk::prelude::*;

use choice::{By, Choice};
use config::Config;
use share::Share;

/// The attributes, for the response phase and the access log.
const CHOICE: &str = "canary.choice";
const BY: &str = "canary.by";

struct Canary {
    config: Config,
    share: Share,
}

#[plugin]
impl Plugin for Canary {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        config.check()?;
        Ok(Self { share: Share::new(config.percent)?, config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let (mut choice, by) = self.choose(request);
        if choice == Choice::Canary
            && let Err(refused) = request.set_upstream(&self.config.upstream)
        {
            log::error!("upstream `{}` was not chosen: {refused}", self.config.upstream);
            choice = Choice::Stable;
        }
        for (key, value) in [(CHOICE, choice.name()), (BY, by.name())] {
            if let Err(refused) = request.set_attribute(key, value) {
                log::warn!("attribute `{key}` was not set: {refused}");
            }
        }
        Verdict::Next
    }

    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        let drawn = request.attribute(BY).is_some_and(|by| by == By::Percent.name());
        if self.config.sticky && drawn {
            let canary = request.attribute(CHOICE).is_some_and(|choice| choice == Choice::Canary.name());
            let cookie = self.cookie(if canary { Choice::Canary } else { Choice::Stable });
            if let Err(refused) = response.append_header("set-cookie", cookie) {
                log::warn!("the cookie was not set: {refused}");
            }
        }
        Verdict::Next
    }
}

impl Canary {
    fn choose(&self, request: &Request) -> (Choice, By) {
        if let Some(forced) = request.header(&self.config.header).and_then(|word| Choice::forced(&word)) {
            return (forced, By::Header);
        }
        if let Some(kept) = request.cookie(&self.config.cookie).and_then(|word| Choice::forced(&word)) {
            return (kept, By::Cookie);
        }
        let drawn = self.share.takes(&request.request_id());
        (if drawn { Choice::Canary } else { Choice::Stable }, By::Percent)
    }

    fn cookie(&self, choice: Choice) -> String {
        let Config { cookie, max_age, .. } = &self.config;
        format!("{cookie}={}; Path=/; Max-Age={max_age}; SameSite=Lax; HttpOnly", choice.word())
    }
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing::{self, Exchange};

    use super::*;

    fn plugin(percent: &str, extra: &str) -> Canary {
        testing::configure(&format!(r#"{{ "upstream": "next", "percent": {percent} {extra} }}"#)).unwrap()
    }

    fn get() -> Exchange {
        Exchange::get("/").with_upstreams(["stable", "next"])
    }

    #[test]
    fn the_header_wins_over_the_cookie_and_the_cookie_over_the_draw() {
        fn check(percent: &str, header: Option<&str>, cookie: Option<&str>, expected: (&str, &str)) {
            let mut exchange = get();
            exchange = header.into_iter().fold(exchange, |exchange, word| exchange.header("x-canary", word));
            exchange = cookie.into_iter().fold(exchange, |exchange, word| exchange.cookie("canary", word));
            assert_eq!(exchange.on_request(&plugin(percent, "")).verdict, Verdict::Next);
            let (choice, by) = expected;
            assert_eq!(exchange.upstream(), (choice == "canary").then_some("next"));
            assert_eq!(exchange.attribute(CHOICE).unwrap(), choice);
            assert_eq!(exchange.attribute(BY).unwrap(), by);
        }
        check("0", None, None, ("stable", "percent"));
        check("100", None, None, ("canary", "percent"));
        check("0", Some("always"), Some("never"), ("canary", "header"));
        check("100", Some("never"), Some("always"), ("stable", "header"));
        check("0", Some("perhaps"), Some("always"), ("canary", "cookie"));
        check("100", None, Some("never"), ("stable", "cookie"));
        check("100", Some(""), Some("other"), ("canary", "percent"));
    }

    #[test]
    fn a_drawn_client_is_given_the_cookie() {
        fn check(mut exchange: Exchange, plugin: &Canary, expected: &[&str]) {
            exchange.on_request(plugin);
            exchange.on_response(plugin);
            assert_eq!(exchange.response_header_all("set-cookie"), expected);
        }
        let drawn = plugin("100", "");
        check(get(), &drawn, &["canary=always; Path=/; Max-Age=86400; SameSite=Lax; HttpOnly"]);
        check(get().cookie("canary", "always"), &drawn, &[]);
        check(get().header("x-canary", "never"), &drawn, &[]);
        let other = plugin("0", r#", "cookie": "c", "max-age": 60"#);
        check(get(), &other, &["c=never; Path=/; Max-Age=60; SameSite=Lax; HttpOnly"]);
        check(get(), &plugin("100", r#", "sticky": false"#), &[]);
        let own = Response::new(200).header("set-cookie", "a=b");
        check(get().cookie("canary", "never").with_response(own), &drawn, &["a=b"]);
    }

    #[test]
    fn without_the_request_phase_no_cookie_is_given() {
        let mut exchange = get().with_response(Response::new(401));
        exchange.on_response(&plugin("100", ""));
        assert_eq!(exchange.response_header("set-cookie"), None);
    }

    #[test]
    fn an_unknown_upstream_leaves_the_routes_own() {
        let mut exchange = Exchange::get("/");
        assert_eq!(exchange.on_request(&plugin("100", "")).verdict, Verdict::Next);
        assert_eq!((exchange.upstream(), exchange.attribute(CHOICE)), (None, Some("stable".into())));
        let logged = exchange.logged().first().map(|(level, _)| *level);
        assert_eq!(logged, Some(log::Level::Error));
    }
}
