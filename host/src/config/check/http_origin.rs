//! `grants.http` of a manifest: origins that a plugin may call. Must not know what it asks them.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use crate::config::diagnostic::Diagnostic;
use crate::config::model::{HttpOrigin, PeerHost, Scheme};
use crate::config::scope::Scope;
use crate::config::{address, codes, raw, reach};

/// The origins that are right. `base` is the directory of the manifest.
pub(super) fn origins(
    scope: &mut Scope,
    list: Vec<Spanned<raw::HttpOrigin>>,
    base: &Path,
) -> Vec<HttpOrigin> {
    list.into_iter().filter_map(|entry| origin(scope, entry.span(), entry.into_inner(), base)).collect()
}

fn origin(scope: &mut Scope, span: Range<usize>, raw: raw::HttpOrigin, base: &Path) -> Option<HttpOrigin> {
    let (text, private, ca) = match raw {
        raw::HttpOrigin::Origin(text) => (Spanned::new(span, text), false, None),
        raw::HttpOrigin::Table(table) => {
            let Some(text) = table.origin else {
                let found = Diagnostic::error(codes::MISSING, "the entry has no `origin`");
                scope.report(span, found.with_help("for example `origin = \"http://127.0.0.1:9000\"`"));
                return None;
            };
            (text, table.private, table.ca)
        }
    };
    let (scheme, host, port) = scope.keep(text.span(), parsed(text.get_ref()))?;
    if let PeerHost::Ip(ip) = host
        && !private
        && !reach::is_public(ip)
    {
        let found =
            Diagnostic::error(codes::BAD_ORIGIN, format!("`{}` is not a public address", text.get_ref()));
        let help = format!("if that is meant, write `{{ origin = \"{}\", private = true }}`", text.get_ref());
        scope.report(text.span(), found.with_help(help));
        return None;
    }
    let ca = match ca {
        Some(ca) if scheme == Scheme::Http => {
            let found = Diagnostic::error(codes::CONTRADICTION, "`ca` is for `https` origins");
            scope.report(ca.span(), found.with_help("leave it out, or write `https://`"));
            None
        }
        ca => ca.map(|ca| base.join(ca.into_inner())),
    };
    Some(HttpOrigin { scheme, host, port, private, ca })
}

fn parsed(text: &str) -> Result<(Scheme, PeerHost, u16), Diagnostic> {
    let refused = |message: &str, help: String| {
        Err(Diagnostic::error(codes::BAD_ORIGIN, format!("`{text}` {message}")).with_help(help))
    };
    let Some((scheme, rest)) = text.split_once("://") else {
        return refused("has no scheme", format!("write `https://{text}` or `http://{text}`"));
    };
    let (scheme, usual) = match scheme {
        "https" => (Scheme::Https, 443),
        "http" => (Scheme::Http, 80),
        _ => return refused("is neither `https` nor `http`", format!("for example `https://{rest}`")),
    };
    if let Some((host, _)) = rest.split_once(['/', '?', '#']) {
        let help = format!("a plugin may ask an origin for any path: write `{}://{host}`", name(scheme));
        return refused("has a path", help);
    }
    // Without brackets, a colon is in front of a port.
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
    let end = if has_port { rest.to_owned() } else { format!("{rest}:{usual}") };
    match address::peer(&end) {
        Ok(peer) => Ok((scheme, peer.host, peer.port)),
        Err(found) => refused("is not an origin", found.help.unwrap_or_default()),
    }
}

fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    }
}
