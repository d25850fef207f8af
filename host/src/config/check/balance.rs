//! `balance` of an upstream.

use toml::Spanned;

use super::names;
use crate::config::codes;
use crate::config::diagnostic::Diagnostic;
use crate::config::model::{Balance, HashKey};
use crate::config::scope::Scope;
use crate::config::{raw, scalar};

const HASH_HELP: &str =
    "for example `balance = { hash = \"client-address\" }` or `{ hash = { header = \"x-tenant\" } }`";

/// The default where it is wrong and told.
pub(super) fn balance(scope: &mut Scope, raw: Spanned<raw::Balance>) -> Balance {
    let span = raw.span();
    let checked = match raw.into_inner() {
        raw::Balance::Word(text) => word(&text),
        raw::Balance::Table(raw::BalanceTable { hash: Some(key) }) => {
            let span = key.span();
            return match scope.keep(span, hash_key(key.into_inner())) {
                Some(key) => Balance::Hash(key),
                None => Balance::RoundRobin,
            };
        }
        raw::Balance::Table(_) => {
            Err(Diagnostic::error(codes::MISSING, "`balance` has no `hash`").with_help(HASH_HELP))
        }
    };
    scope.keep(span, checked).unwrap_or(Balance::RoundRobin)
}

fn word(text: &str) -> Result<Balance, Diagnostic> {
    if text == "hash" {
        return Err(Diagnostic::error(codes::UNKNOWN_WORD, "`hash` has to say of what").with_help(HASH_HELP));
    }
    #[derive(Clone, Copy)]
    enum Word {
        RoundRobin,
        LeastRequests,
        Random,
    }
    let words = [
        ("round-robin", Word::RoundRobin),
        ("least-requests", Word::LeastRequests),
        ("random", Word::Random),
    ];
    Ok(match scalar::word(text, &words)? {
        Word::RoundRobin => Balance::RoundRobin,
        Word::LeastRequests => Balance::LeastRequests,
        Word::Random => Balance::Random,
    })
}

fn hash_key(raw: raw::HashKey) -> Result<HashKey, Diagnostic> {
    match raw {
        raw::HashKey::Word(text) => {
            let plugin = scalar::word(&text, &[("client-address", false), ("plugin", true)])?;
            Ok(if plugin { HashKey::Plugin } else { HashKey::ClientAddress })
        }
        raw::HashKey::Table(raw::HashKeyTable { header: Some(name), cookie: None }) => {
            names::hash_header(name.get_ref()).map(HashKey::Header)
        }
        raw::HashKey::Table(raw::HashKeyTable { header: None, cookie: Some(name) }) => {
            names::cookie(name.get_ref()).map(HashKey::Cookie)
        }
        raw::HashKey::Table(_) => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`hash` takes one of `header` and `cookie`");
            Err(found.with_help(HASH_HELP))
        }
    }
}
