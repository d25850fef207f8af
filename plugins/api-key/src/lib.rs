//! Lets in who has a key, and tells the upstream whose it is. Must not know how keys are compared.

mod config;
mod keyring;
mod refusal;

use edgewright_sdk::prelude::*;

use config::Config;
use keyring::Keyring;

/// The attribute that names the owner of the key, for later plugins and the access log.
const OWNER: &str = "api-key.owner";

struct ApiKey {
    config: Config,
    keyring: Keyring,
    /// `WWW-Authenticate` of every refusal.
    challenge: String,
}

#[plugin]
impl Plugin for ApiKey {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        config.check()?;
        let keyring = Keyring::new(&config.keys)?;
        Ok(Self { challenge: refusal::challenge(&config.realm), keyring, config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        // First of all: whatever is decided below, nobody sees an owner that the client made up.
        if let Err(refused) = request.remove_header(&self.config.owner_header) {
            return self.broken(&self.config.owner_header, refused);
        }
        let lines = request.header_all(&self.config.header);
        let owner = match lines.as_slice() {
            [key] => self.keyring.owner(key),
            // Two keys are two claims: which one an upstream would read is anyone's guess.
            _ => None,
        };
        match owner {
            Some(owner) => self.admit(request, owner),
            None => refusal::unauthorized(&self.challenge).into(),
        }
    }
}

impl ApiKey {
    fn admit(&self, request: &mut Request, owner: &str) -> Verdict {
        if self.config.strip_key
            && let Err(refused) = request.remove_header(&self.config.header)
        {
            return self.broken(&self.config.header, refused);
        }
        if let Err(refused) = request.set_header(&self.config.owner_header, owner) {
            return self.broken(&self.config.owner_header, refused);
        }
        if let Err(refused) = request.set_attribute(OWNER, owner) {
            log::warn!("attribute `{OWNER}` was not set: {refused}");
        }
        Verdict::Next
    }

    /// The head could not be made what the upstream relies on: better no answer than a wrong one.
    fn broken(&self, header: &str, refused: impl std::fmt::Display) -> Verdict {
        log::error!("header `{header}` was not changed: {refused}");
        Response::new(500).into()
    }
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing::{self, Exchange};

    use super::*;

    fn plugin(extra: &str) -> ApiKey {
        let config = format!(
            r#"{{ "keys": [{{"key": "alice-secret", "owner": "alice"}}, {{"key": "bob-secret", "owner": "bob"}}] {extra} }}"#
        );
        testing::configure(&config).unwrap()
    }

    #[test]
    fn a_known_key_names_its_owner() {
        fn check(key: &str, owner: &str) {
            let mut exchange = Exchange::get("/").header("X-Api-Key", key).header("x-api-owner", "root");
            assert_eq!(exchange.on_request(&plugin("")).verdict, Verdict::Next);
            assert_eq!(exchange.request_header_all("x-api-owner"), [owner]);
            assert_eq!(exchange.request_header("x-api-key"), None);
            assert_eq!(exchange.attribute(OWNER).unwrap(), owner);
        }
        check("alice-secret", "alice");
        check("bob-secret", "bob");
    }

    #[test]
    fn anything_else_is_refused() {
        fn check(keys: &[&str]) {
            let mut exchange =
                Exchange::get("/").header("x-api-owner", "root").header("x-api-owner", "alice");
            for key in keys {
                exchange = exchange.header("x-api-key", *key);
            }
            let outcome = exchange.on_request(&plugin(""));
            assert_eq!(outcome.response().map(Response::status), Some(401), "{keys:?}");
            assert_eq!(exchange.response_header("www-authenticate").unwrap(), r#"ApiKey realm="api""#);
            assert_eq!(exchange.request_header("x-api-owner"), None, "{keys:?}");
            assert_eq!(exchange.attribute(OWNER), None);
        }
        check(&[]);
        check(&[""]);
        check(&["alice-secre"]);
        check(&["alice-secret "]);
        check(&["Alice-secret"]);
        check(&["alice-secret,bob-secret"]);
        check(&["alice-secret", "alice-secret"]);
        check(&["alice-secret", "bob-secret"]);
    }

    #[test]
    fn names_are_the_configurations() {
        let plugin =
            plugin(r#", "header": "X-Token", "owner-header": "X-User", "strip-key": false, "realm": "b c""#);
        let mut exchange = Exchange::get("/").header("x-token", "bob-secret");
        assert_eq!(exchange.on_request(&plugin).verdict, Verdict::Next);
        assert_eq!(exchange.request_header("x-user").unwrap(), "bob");
        assert_eq!(exchange.request_header("x-token").unwrap(), "bob-secret");

        let mut refused = Exchange::get("/").header("x-api-key", "bob-secret");
        refused.on_request(&plugin);
        assert_eq!(refused.response_header("www-authenticate").unwrap(), r#"ApiKey realm="b c""#);
    }
}
