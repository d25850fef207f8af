//! The key of a request: what its upstream tells requests apart by that belong to one peer.

use std::borrow::Cow;
use std::net::IpAddr;

use http::header;
use pingora::proxy::Session;

use crate::config::model::HashKey;
use crate::cookie;

use super::ctx::Ctx;

/// The key, where the upstream has one and the request has it.
pub(crate) fn of<'a>(wanted: &HashKey, session: &'a Session, ctx: &'a Ctx) -> Option<Cow<'a, [u8]>> {
    let headers = &session.req_header().headers;
    match wanted {
        HashKey::ClientAddress => Some(Cow::Owned(match ctx.facts.as_ref()?.client {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        })),
        HashKey::Header(name) => headers.get(name).map(|value| value.as_bytes().into()),
        HashKey::Cookie(name) => {
            let lines = headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
            cookie::value(lines, name.as_bytes()).map(Cow::Borrowed)
        }
        HashKey::Plugin => ctx.exchange()?.hash_key.as_deref().map(Cow::Borrowed),
    }
}
