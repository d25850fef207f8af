//! The keys, and what a token must be to be believed. Must not know where a token is from.

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use crate::config::{Config, Key};

/// Longer tokens are not looked at: what is signed for a request is shorter.
const LONGEST: usize = 8 * 1024;
/// A secret of HS256 is as long as its hash at least (RFC 7518, section 3.2).
const SHORTEST_SECRET: usize = 32;

/// What a token says.
pub(crate) type Claims = Map<String, Value>;

/// Every key, with the algorithm that it is for: a token can't choose another.
pub(crate) struct Keyring(Vec<Trusted>);

struct Trusted {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
    rules: Validation,
}

impl Keyring {
    /// # Errors
    /// Which key is wrong, by its place: no secret is in the text.
    pub(crate) fn new(config: &Config) -> Result<Self, String> {
        if config.keys.is_empty() {
            return Err("`keys` is empty: nobody could get in".to_owned());
        }
        let trusted = |(index, key): (usize, &Key)| {
            let wrong = |what: String| format!("`keys[{index}]`: {what}");
            let (algorithm, decoding) = decoding(key).map_err(wrong)?;
            let rules = rules(config, algorithm);
            Ok(Trusted { id: key.id.clone(), algorithm, key: decoding, rules })
        };
        config.keys.iter().enumerate().map(trusted).collect::<Result<_, String>>().map(Self)
    }

    /// What a token says, if one of the keys signed it and it is good now.
    pub(crate) fn claims(&self, token: &str) -> Option<Claims> {
        if token.len() > LONGEST {
            return None;
        }
        let header = decode_header(token).ok()?;
        let may_fit = |key: &&Trusted| {
            let id_fits = match (&key.id, &header.kid) {
                (Some(own), Some(named)) => own == named,
                _ => true,
            };
            key.algorithm == header.alg && id_fits
        };
        self.0.iter().filter(may_fit).find_map(|key| Some(decode(token, &key.key, &key.rules).ok()?.claims))
    }
}

fn decoding(key: &Key) -> Result<(Algorithm, DecodingKey), String> {
    match (key.algorithm.as_str(), &key.secret, &key.public_key) {
        ("HS256", Some(secret), None) if secret.len() < SHORTEST_SECRET => {
            Err("`secret` is shorter than 32 bytes".to_owned())
        }
        ("HS256", Some(secret), None) => Ok((Algorithm::HS256, DecodingKey::from_secret(secret.as_bytes()))),
        ("HS256", ..) => Err("`HS256` takes a `secret`, and no `public-key`".to_owned()),
        ("RS256", None, Some(pem)) => public(Algorithm::RS256, DecodingKey::from_rsa_pem(pem.as_bytes())),
        ("ES256", None, Some(pem)) => public(Algorithm::ES256, DecodingKey::from_ec_pem(pem.as_bytes())),
        ("RS256" | "ES256", ..) => {
            Err(format!("`{}` takes a `public-key` in PEM, and no `secret`", key.algorithm))
        }
        (other, ..) => Err(format!("`algorithm`: `{other}` is none of `HS256`, `RS256` and `ES256`")),
    }
}

fn public(
    algorithm: Algorithm,
    key: jsonwebtoken::errors::Result<DecodingKey>,
) -> Result<(Algorithm, DecodingKey), String> {
    match key {
        Ok(key) => Ok((algorithm, key)),
        Err(error) => Err(format!("`public-key` is no public key for `{algorithm:?}` in PEM: {error}")),
    }
}

fn rules(config: &Config, algorithm: Algorithm) -> Validation {
    let mut rules = Validation::new(algorithm);
    rules.leeway = config.leeway;
    rules.validate_nbf = true;
    rules.required_spec_claims.clear();
    if config.expires {
        rules.required_spec_claims.insert("exp".to_owned());
    }
    if !config.issuers.is_empty() {
        rules.set_issuer(&config.issuers);
        rules.required_spec_claims.insert("iss".to_owned());
    }
    if config.audiences.is_empty() {
        rules.validate_aud = false;
    } else {
        rules.set_audience(&config.audiences);
        rules.required_spec_claims.insert("aud".to_owned());
    }
    rules
}
