//! What the user writes. Must not know tokens.

use std::collections::BTreeMap;

use edgewright_sdk::Header;
use serde::Deserialize;

/// `config` of the plugin; each key is explained in README.md. No `Debug`: it would show the secrets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) keys: Vec<Key>,
    #[serde(default)]
    pub(crate) issuers: Vec<String>,
    #[serde(default)]
    pub(crate) audiences: Vec<String>,
    #[serde(default = "leeway")]
    pub(crate) leeway: u64,
    #[serde(default)]
    pub(crate) cookie: Option<String>,
    /// Claims by the header that the upstream reads them from.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Claims by the attribute that later plugins read them from.
    #[serde(default = "attributes")]
    pub(crate) attributes: BTreeMap<String, String>,
    #[serde(default = "required")]
    pub(crate) required: bool,
    #[serde(default = "expires")]
    pub(crate) expires: bool,
    #[serde(default)]
    pub(crate) strip: bool,
    #[serde(default = "realm")]
    pub(crate) realm: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Key {
    pub(crate) algorithm: String,
    pub(crate) id: Option<String>,
    pub(crate) secret: Option<String>,
    pub(crate) public_key: Option<String>,
}

impl Config {
    /// # Errors
    /// Which key is wrong and why. The keys themselves are the keyring's to check.
    pub(crate) fn check(&self) -> Result<(), String> {
        for name in self.headers.keys() {
            Header::check_name(name).map_err(|error| format!("`headers`: `{name}`: {error}"))?;
        }
        let quotable = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !matches!(byte, b'"' | b'\\');
        if !self.realm.bytes().all(quotable) {
            return Err("`realm`: only printable ASCII without `\"` and `\\`".to_owned());
        }
        if self.cookie.as_ref().is_some_and(String::is_empty) {
            return Err("`cookie` is empty: leave it out to read no cookie".to_owned());
        }
        Ok(())
    }
}

/// Clocks of two machines are rarely further apart.
fn leeway() -> u64 {
    30
}

fn attributes() -> BTreeMap<String, String> {
    BTreeMap::from([("jwt.sub".to_owned(), "sub".to_owned())])
}

fn required() -> bool {
    true
}

fn expires() -> bool {
    true
}

fn realm() -> String {
    "api".to_owned()
}
