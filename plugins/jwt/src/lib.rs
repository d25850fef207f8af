//! Lets in who has a signed token, and tells the upstream who it is. Must not know how tokens are checked.

mod claim;
mod config;
mod keyring;

use edgewright_sdk::HeaderError;
use edgewright_sdk::prelude::*;

use config::Config;
use keyring::{Claims, Keyring};

struct Jwt {
    config: Config,
    keyring: Keyring,
}

/// What a request carries.
enum Carried {
    Nothing,
    Token(String),
    /// Something that is no single token.
    Junk,
}

#[plugin]
impl Plugin for Jwt {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        config.check()?;
        Ok(Self { keyring: Keyring::new(&config)?, config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        // First of all: whatever is decided below, nobody sees a claim that the client made up.
        for header in self.config.headers.keys() {
            if let Err(refused) = request.remove_header(header) {
                return broken(header, refused);
            }
        }
        match self.carried(request) {
            Carried::Nothing if self.config.required => self.refuse(""),
            Carried::Nothing => Verdict::Next,
            Carried::Junk => self.refuse(", error=\"invalid_request\""),
            Carried::Token(token) => match self.keyring.claims(&token) {
                Some(claims) => self.admit(request, &claims),
                None => self.refuse(", error=\"invalid_token\""),
            },
        }
    }
}

impl Jwt {
    fn carried(&self, request: &Request) -> Carried {
        match request.header_all("authorization").as_slice() {
            [] => {}
            [line] => {
                let token = line.to_str().ok().and_then(bearer);
                return token.map_or(Carried::Junk, |token| Carried::Token(token.to_owned()));
            }
            // Two tokens are two claims: which one an upstream would read is anyone's guess.
            _ => return Carried::Junk,
        }
        let cookie = self.config.cookie.as_ref().and_then(|name| request.cookie(name));
        match cookie {
            Some(value) => value.to_str().map_or(Carried::Junk, |token| Carried::Token(token.to_owned())),
            None => Carried::Nothing,
        }
    }

    fn admit(&self, request: &mut Request, claims: &Claims) -> Verdict {
        for (header, path) in &self.config.headers {
            let Some(text) = claim::text(claims, path) else { continue };
            if let Err(refused) = request.set_header(header, text) {
                return broken(header, refused);
            }
        }
        for (key, path) in &self.config.attributes {
            let Some(text) = claim::text(claims, path) else { continue };
            if let Err(refused) = request.set_attribute(key, text) {
                log::warn!("attribute `{key}` was not set: {refused}");
            }
        }
        if self.config.strip
            && let Err(refused) = request.remove_header("authorization")
        {
            return broken("authorization", refused);
        }
        Verdict::Next
    }

    /// RFC 6750, section 3: without a token, the answer says nothing but what is wanted.
    fn refuse(&self, why: &str) -> Verdict {
        Response::new(401)
            .header("www-authenticate", format!("Bearer realm=\"{}\"{why}", self.config.realm))
            .header("content-type", "text/plain; charset=utf-8")
            .body("a valid token is required\n")
            .into()
    }
}

/// The token of `Bearer …`; the scheme in any case of letters.
fn bearer(line: &str) -> Option<&str> {
    let (scheme, token) = line.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The head could not be made what the upstream relies on: better no answer than a wrong one.
fn broken(header: &str, refused: HeaderError) -> Verdict {
    log::error!("header `{header}` was not changed: {refused}");
    Response::new(500).into()
}

#[cfg(test)]
mod tests;
