//! `early_request_filter`: what the proxy does with a request before any plugin sees it. Refuses what is
//! malformed, normalises the target, takes out what is not the client's to send, matches the route.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Version, header};
use pingora::Result;
use pingora::http::RequestHeader;
use pingora::protocols::http::ServerSession;
use pingora::proxy::Session;

use crate::plugin::exchange::Facts;
use crate::proxy::ctx::Ctx;
use crate::proxy::failure::{Failed, Kind, raise};
use crate::proxy::local_response::REQUEST_ID;
use crate::proxy::survey::Survey;
use crate::proxy::{forwarded, heads, hop_by_hop, request_id, sanitize};
use crate::route;
use crate::target;

/// Cleartext listeners only, so far.
const SCHEME: &str = "http";

pub(crate) fn run(session: &mut Session, ctx: &mut Ctx) -> Result<()> {
    session.set_pipelining_enabled(true);
    prepare(session, ctx).map_err(|failed| {
        let error = raise(&failed);
        ctx.failed = Some(failed);
        error
    })
}

fn prepare(session: &mut Session, ctx: &mut Ctx) -> Result<(), Failed> {
    let peer = peer(session);
    let generation = Arc::clone(&ctx.generation);
    let policy = &generation.policy;
    let trust = forwarded::is_trusted(peer.ip(), &policy.trusted_proxies);
    let head = session.req_header_mut();

    let id = trusted_id(head, trust).unwrap_or_else(request_id::fresh);
    let facts = ctx.facts.insert(Facts {
        raw_target: Bytes::new(),
        authority: "".into(),
        scheme: SCHEME,
        protocol: protocol(head.version),
        client: forwarded::client(head, peer, &policy.trusted_proxies),
        route: "".into(),
        request_id: id,
    });

    if head.method == Method::TRACE {
        return Err(Failed::new(Kind::MethodNotAllowed));
    }
    let host_length = read_host(head, facts)?;
    if let Some(target) = normalised(head)? {
        facts.raw_target = Bytes::copy_from_slice(head.raw_path());
        heads::replace_target(head, target);
    }
    let found = Survey::of(&head.headers, &policy.owned_headers);
    hop_by_hop::strip_request(head, found).map_err(bad)?;
    sanitize::request(head, found, &policy.owned_headers, policy.underscore_headers, trust);

    forwarded::rebuild(head, peer.ip(), SCHEME, trust);
    if let Ok(value) = HeaderValue::from_str(&facts.request_id) {
        let _ = head.insert_header(REQUEST_ID, value);
    }

    let request = route::Request {
        host: facts.authority.get(..host_length).unwrap_or_default(),
        path: head.uri.path(),
        query: head.uri.query(),
        method: &head.method,
        headers: &head.headers,
    };
    ctx.route = generation.table.find(&request);
    match ctx.route.and_then(|route| generation.routes.get(route.index())) {
        Some(entry) => {
            facts.route = Arc::clone(&entry.name);
            // Without plugins, what the head says stays what the client sent.
            if facts.raw_target.is_empty() && !entry.chain.is_empty() {
                facts.raw_target = Bytes::copy_from_slice(head.raw_path());
            }
            Ok(())
        }
        None => Err(Failed::new(Kind::NoRoute)),
    }
}

/// The address of the connection. Pingora always knows it for TCP.
fn peer(session: &ServerSession) -> SocketAddr {
    match session.client_addr() {
        Some(pingora::protocols::l4::socket::SocketAddr::Inet(address)) => *address,
        _ => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
    }
}

fn trusted_id(head: &RequestHeader, trust: bool) -> Option<Arc<str>> {
    if !trust {
        return None;
    }
    request_id::given(head.headers.get(REQUEST_ID)?.as_bytes())
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_11 => "HTTP/1.1",
        _ => "HTTP/1.0",
    }
}

/// One `Host` line that names a host, or the authority of HTTP/2; only HTTP/1.0 may go without (RFC 9112,
/// section 3.2). That there are not several, and that a line and a target agree, Pingora has seen to.
/// Returns how much of the authority is the host, which routes match.
fn read_host(head: &RequestHeader, facts: &mut Facts) -> Result<usize, Failed> {
    let raw = match (head.headers.get(header::HOST), head.uri.authority()) {
        (Some(line), _) => line.as_bytes(),
        (None, Some(authority)) => authority.as_str().as_bytes(),
        (None, None) if head.version == Version::HTTP_10 => return Ok(0),
        (None, None) => return Err(Failed::because(Kind::BadRequest, "no `host`")),
    };
    let read = target::authority(raw).map_err(bad)?;
    facts.authority = read.as_str().into();
    Ok(read.host().len())
}

/// The target in the one form that router, plugins, log and upstream see; `None` where it has that form
/// already. An absolute target becomes a path: the upstream is no proxy.
fn normalised(head: &RequestHeader) -> Result<Option<PathAndQuery>, Failed> {
    let parsed = target::parse(head.raw_path()).map_err(bad)?;
    if parsed.path == "*" {
        return if head.method == Method::OPTIONS {
            Ok(None)
        } else {
            Err(bad("`*` is a target of OPTIONS alone"))
        };
    }
    let unchanged = parsed.authority.is_none()
        && matches!(parsed.path, Cow::Borrowed(_))
        && matches!(parsed.query, None | Some(Cow::Borrowed(_)));
    if unchanged {
        return Ok(None);
    }
    let text = match &parsed.query {
        Some(query) => format!("{}?{query}", parsed.path),
        None => parsed.path.into_owned(),
    };
    PathAndQuery::try_from(text).map(Some).map_err(bad)
}

fn bad(cause: impl ToString) -> Failed {
    Failed::because(Kind::BadRequest, cause)
}
