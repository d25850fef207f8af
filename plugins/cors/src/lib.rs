//! Lets pages of other origins call, as far as they may: the CORS protocol of the Fetch standard. Must not know
//! how origins are written.

mod config;
mod origins;

use edgewright_sdk::HeaderError;
use edgewright_sdk::prelude::*;

use config::{AllowedHeaders, Config, Policy};

const ALLOW_ORIGIN: &str = "access-control-allow-origin";
const ALLOW_CREDENTIALS: &str = "access-control-allow-credentials";
const EXPOSE: &str = "access-control-expose-headers";

struct Cors {
    policy: Policy,
}

#[plugin]
impl Plugin for Cors {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        Ok(Self { policy: config.policy()? })
    }

    /// Answers preflights: they carry no credentials, so nothing behind this may see them.
    fn on_request(&self, request: &mut Request) -> Verdict {
        if request.method() != "OPTIONS" || request.header("access-control-request-method").is_none() {
            return Verdict::Next;
        }
        match request.header("origin") {
            Some(origin) if self.may_call(&origin) => self.preflight(request).into(),
            Some(_) => Response::new(403)
                .header("vary", "origin")
                .header("content-type", "text/plain; charset=utf-8")
                .body("this origin may not call\n")
                .into(),
            // Browsers always say it.
            None => Verdict::Next,
        }
    }

    /// Says on every response, errors included, whether the page may read it.
    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        if let Err(refused) = self.mark(request, response) {
            log::error!("a response was not marked: {refused}");
        }
        Verdict::Next
    }
}

impl Cors {
    fn may_call(&self, origin: &[u8]) -> bool {
        std::str::from_utf8(origin).is_ok_and(|origin| self.policy.origins.have(origin))
    }

    /// What may be sent. Who may send it is on every response.
    fn preflight(&self, request: &Request) -> Response {
        let mut answer = Response::new(204)
            .header("access-control-allow-methods", self.policy.methods.as_str())
            .header("access-control-max-age", self.policy.max_age.as_str())
            .header("vary", "access-control-request-method, access-control-request-headers");
        let headers = match &self.policy.headers {
            AllowedHeaders::These(names) => names.as_deref().map(Bytes::from),
            AllowedHeaders::Any => request.header("access-control-request-headers"),
        };
        if let Some(headers) = headers {
            answer = answer.header("access-control-allow-headers", headers);
        }
        answer
    }

    fn mark(&self, request: &Request, response: &mut ResponseHead) -> Result<(), HeaderError> {
        // What the upstream says is not the proxy's policy.
        for name in [ALLOW_ORIGIN, ALLOW_CREDENTIALS, EXPOSE] {
            response.remove_header(name)?;
        }
        if self.policy.origins.are_any() {
            response.set_header(ALLOW_ORIGIN, "*")?;
        } else {
            vary_by_origin(response)?;
            let Some(origin) = request.header("origin").filter(|origin| self.may_call(origin)) else {
                return Ok(());
            };
            response.set_header(ALLOW_ORIGIN, origin)?;
            if self.policy.credentials {
                response.set_header(ALLOW_CREDENTIALS, "true")?;
            }
        }
        match &self.policy.expose {
            Some(names) => response.set_header(EXPOSE, names),
            None => Ok(()),
        }
    }
}

/// Caches keep the responses to different origins apart.
fn vary_by_origin(response: &mut ResponseHead) -> Result<(), HeaderError> {
    let lines = response.header_all("vary");
    let mut names = lines.iter().flat_map(|line| line.split(|byte| *byte == b','));
    let said = |name: &[u8]| {
        let name = name.trim_ascii();
        name == b"*" || name.eq_ignore_ascii_case(b"origin")
    };
    if names.any(said) { Ok(()) } else { response.append_header("vary", "origin") }
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing::{self, Exchange};

    use super::*;

    fn plugin(extra: &str) -> Cors {
        let config = format!(r#"{{ "origins": ["https://app.test"], "methods": ["GET", "PUT"] {extra} }}"#);
        testing::configure(&config).unwrap()
    }

    fn preflight(origin: &str) -> Exchange {
        Exchange::new("OPTIONS", "/api")
            .header("origin", origin)
            .header("access-control-request-method", "PUT")
            .header("access-control-request-headers", "authorization,x-a")
    }

    fn field(exchange: &Exchange, name: &str) -> Option<String> {
        exchange.response_header(name).map(|value| value.to_str_lossy().into_owned())
    }

    #[test]
    fn a_preflight_is_answered() {
        let cors = plugin(r#", "headers": ["authorization", "x-a"], "credentials": true, "max-age": 60"#);
        let mut exchange = preflight("https://app.test");
        assert_eq!(exchange.on_request(&cors).response().map(Response::status), Some(204));
        exchange.on_response(&cors);
        let is =
            |name: &str, expected: &str| assert_eq!(field(&exchange, name).unwrap_or_default(), expected);
        is(ALLOW_ORIGIN, "https://app.test");
        is(ALLOW_CREDENTIALS, "true");
        is("access-control-allow-methods", "GET, PUT");
        is("access-control-allow-headers", "authorization, x-a");
        is("access-control-max-age", "60");
        assert_eq!(exchange.response_header_all("vary").last().unwrap(), "origin");
    }

    #[test]
    fn other_origins_get_nothing() {
        let cors = plugin("");
        for origin in ["https://evil.test", "null", "https://app.test.evil.test", "https://app.test, x"] {
            let mut exchange = preflight(origin);
            exchange.on_request(&cors);
            exchange.on_response(&cors);
            assert_eq!(exchange.status(), 403, "{origin}");
            assert_eq!(field(&exchange, ALLOW_ORIGIN), None, "{origin}");
            assert_eq!(field(&exchange, "vary").unwrap(), "origin");
        }
    }

    #[test]
    fn what_is_no_preflight_passes() {
        let cors = plugin("");
        let options = Exchange::new("OPTIONS", "/").header("origin", "https://app.test");
        let get = Exchange::get("/").header("access-control-request-method", "PUT");
        for mut exchange in [options, get, Exchange::get("/")] {
            assert_eq!(exchange.on_request(&cors).verdict, Verdict::Next);
        }
    }

    #[test]
    fn what_the_upstream_says_is_replaced() {
        let cors = plugin(r#", "expose": ["x-total"]"#);
        let upstream = || {
            Response::new(401)
                .header(ALLOW_ORIGIN, "*")
                .header(ALLOW_CREDENTIALS, "true")
                .header("vary", "Accept, ORIGIN")
        };
        let mut exchange = Exchange::get("/").header("origin", "https://app.test").with_response(upstream());
        exchange.on_response(&cors);
        assert_eq!(exchange.response_header_all(ALLOW_ORIGIN), ["https://app.test"]);
        assert_eq!(field(&exchange, ALLOW_CREDENTIALS), None);
        assert_eq!(field(&exchange, EXPOSE).unwrap(), "x-total");
        assert_eq!(exchange.response_header_all("vary"), ["Accept, ORIGIN"]);

        let mut other = Exchange::get("/").header("origin", "https://evil.test").with_response(upstream());
        other.on_response(&cors);
        assert_eq!(field(&other, ALLOW_ORIGIN), None);
    }

    #[test]
    fn any_origin_is_a_star() {
        let cors: Cors = testing::configure(r#"{ "origins": ["*"], "headers": ["*"] }"#).unwrap();
        let mut exchange = preflight("https://anywhere.test");
        exchange.on_request(&cors);
        exchange.on_response(&cors);
        assert_eq!(field(&exchange, ALLOW_ORIGIN).unwrap(), "*");
        assert_eq!(field(&exchange, "access-control-allow-headers").unwrap(), "authorization,x-a");
    }
}
