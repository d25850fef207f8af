//! What a request must be to be let in, and the form it is brought into before anything decides about it:
//! refuses what is malformed, normalises the target, takes out what is not the client's to send, adds what the
//! upstream is to know. `explain` runs the same code, so that it tells the proxy's own story.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Method, Version, header};
use pingora::http::RequestHeader;

use crate::config::model::TraceContext;
use crate::plugin::exchange::Facts;
use crate::snapshot::Policy;
use crate::target;

use super::downstream::Connection;
use super::failure::{Failed, Kind};
use super::local_response::REQUEST_ID;
use super::memo::Memo;
use super::survey::Survey;
use super::{content_length, forwarded, heads, hop_by_hop, loops, request_id, sanitize, trace_context, via};

thread_local! {
    /// Hosts as requests name them. Only those that were let in.
    static HOSTS: Memo<Box<[u8]>, Told> = Memo::new();
}

/// Where a request comes from.
pub(crate) struct Origin<'a> {
    /// Who is at the other end of its connection.
    pub(crate) peer: SocketAddr,
    /// Nothing for one that is only played through.
    pub(crate) connection: Option<&'a Connection>,
}

impl Origin<'_> {
    fn scheme(&self) -> &'static str {
        self.connection.map_or("http", Connection::scheme)
    }

    /// On a listener that asks some clients for certificates, the host of a request must be on the virtual host
    /// of its connection: else a client would handshake for one that asks for nothing and send its requests to
    /// one that does (RFC 9110, section 7.4).
    fn check_host(&self, host: Option<&str>) -> Result<(), Failed> {
        let tls =
            self.connection.and_then(|connection| Some((connection, connection.listener.tls.as_ref()?)));
        match tls {
            Some((connection, tls)) if tls.asks_clients && tls.index(host) != connection.host => {
                Err(Failed::new(Kind::Misdirected))
            }
            _ => Ok(()),
        }
    }
}

/// What is known of a request before anything in it is believed.
pub(crate) fn facts(head: &RequestHeader, from: &Origin<'_>, policy: &Policy) -> Facts {
    let peer = from.peer;
    let trust = forwarded::is_trusted(peer.ip(), &policy.trusted_proxies);
    Facts {
        raw_target: Bytes::new(),
        authority: Arc::default(),
        scheme: from.scheme(),
        tls: from.connection.and_then(|connection| connection.tls.clone()),
        protocol: protocol(head.version),
        client: forwarded::client(head, peer, &policy.trusted_proxies),
        route: Arc::default(),
        request_id: given_id(head, trust).unwrap_or_else(request_id::fresh),
    }
}

/// Lets a request in. Returns how much of `facts.authority` is the host that routes match.
///
/// # Errors
/// The request is refused.
pub(crate) fn admit(
    head: &mut RequestHeader,
    from: &Origin<'_>,
    policy: &Policy,
    facts: &mut Facts,
) -> Result<usize, Failed> {
    let trust = forwarded::is_trusted(from.peer.ip(), &policy.trusted_proxies);
    if matches!(head.method, Method::TRACE | Method::CONNECT) {
        return Err(Failed::new(Kind::MethodNotAllowed));
    }
    let found = Survey::of(&head.headers, &policy.owned_headers);
    if found.lines > policy.limits.header_lines || found.bytes > policy.limits.header_bytes {
        return Err(Failed::new(Kind::HeadersTooLarge));
    }
    // HTTP/1 has a scheme in absolute targets alone, which are looked at where they are taken apart.
    if head.version == Version::HTTP_2
        && head.uri.scheme().is_some_and(|scheme| *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS)
    {
        return Err(bad("the scheme is neither `http` nor `https`"));
    }
    if found.framing {
        check_framing(head, policy.limits.body_bytes)?;
    }
    if head.raw_path().len() > policy.limits.target_bytes {
        return Err(Failed::new(Kind::TargetTooLong));
    }
    let (host_length, target) = read_target(head, facts)?;
    from.check_host(facts.authority.get(..host_length))?;
    if let Some(target) = target {
        facts.raw_target = Bytes::copy_from_slice(head.raw_path());
        // Also of a target that Pingora keeps apart from the URI, which has no place beside it then.
        head.set_uri(heads::with_target(&head.uri, target));
    }
    heads::change(head, |head| rewrite(head, found, trust, from, policy, facts))?;
    Ok(host_length)
}

/// Takes out what is not the client's to send, and adds what the upstream is to know.
fn rewrite(
    head: &mut Parts,
    found: Survey,
    trust: bool,
    from: &Origin<'_>,
    policy: &Policy,
    facts: &Facts,
) -> Result<(), Failed> {
    hop_by_hop::strip_request(head, found).map_err(bad)?;
    sanitize::request(head, found, &policy.owned_headers, policy.underscore_headers, trust);
    if policy.loop_detection {
        loops::mark(&mut head.headers)?;
    }
    forwarded::rebuild(&mut head.headers, from.peer.ip(), from.scheme(), trust);
    if let Ok(value) = HeaderValue::from_str(&facts.request_id) {
        head.headers.insert(REQUEST_ID, value);
    }
    if policy.via {
        via::request(head);
    }
    if policy.trace_context == TraceContext::Make {
        trace_context::ensure(&mut head.headers);
    }
    Ok(())
}

fn given_id(head: &RequestHeader, trust: bool) -> Option<Arc<str>> {
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

/// One canonical length, one plain coding, and no expectation but the one that HTTP has: what two parties
/// could frame in two ways is refused (RFC 9110, sections 8.6 and 10.1.1; RFC 9112, section 6.1).
fn check_framing(head: &RequestHeader, most: u64) -> Result<(), Failed> {
    let mut lengths = head.headers.get_all(header::CONTENT_LENGTH).iter();
    if let Some(length) = lengths.next()
        && (!content_length::is_plain(length.as_bytes()) || lengths.next().is_some())
    {
        return Err(bad("`content-length` is not one plain number"));
    }
    let length = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    // A number that does not fit is above any limit.
    if length.is_some_and(|length| length.parse().map_or(true, |length: u64| length > most)) {
        return Err(Failed::new(Kind::BodyTooLarge));
    }
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next()
        && (!coding.as_bytes().eq_ignore_ascii_case(b"chunked") || codings.next().is_some())
    {
        return Err(bad("`transfer-encoding` is not just `chunked`"));
    }
    let mut expected = head.headers.get_all(header::EXPECT).iter();
    match (expected.next(), expected.next()) {
        (None, _) => Ok(()),
        (Some(one), None) if one.as_bytes().eq_ignore_ascii_case(b"100-continue") => Ok(()),
        _ => Err(Failed::new(Kind::ExpectationFailed)),
    }
}

/// Host and target: the authority of an absolute target wins over `Host` (RFC 9112, section 3.2.2), which only
/// HTTP/1.0 may go without. That there are not several, and that the two agree, Pingora has seen to. The
/// target is `None` where it has the one form already that router, plugins, log and upstream see; an absolute
/// one becomes a path, as the upstream is no proxy.
fn read_target(head: &RequestHeader, facts: &mut Facts) -> Result<(usize, Option<PathAndQuery>), Failed> {
    let parsed = target::parse(head.raw_path()).map_err(bad)?;
    let (authority, host_length) = match &parsed.authority {
        Some(authority) => told(authority),
        None => read_host(head)?,
    };
    facts.authority = authority;
    if parsed.path == "*" {
        return if head.method == Method::OPTIONS {
            Ok((host_length, None))
        } else {
            Err(bad("`*` is a target of OPTIONS alone"))
        };
    }
    let unchanged = parsed.authority.is_none()
        && matches!(parsed.path, Cow::Borrowed(_))
        && matches!(parsed.query, None | Some(Cow::Borrowed(_)));
    if unchanged {
        return Ok((host_length, None));
    }
    let text = match &parsed.query {
        Some(query) => format!("{}?{query}", parsed.path),
        None => parsed.path.into_owned(),
    };
    Ok((host_length, Some(PathAndQuery::try_from(text).map_err(bad)?)))
}

/// The `Host` line, or the authority of HTTP/2.
fn read_host(head: &RequestHeader) -> Result<Told, Failed> {
    let raw = match (head.headers.get(header::HOST), head.uri.authority()) {
        (Some(line), _) => line.as_bytes(),
        (None, Some(authority)) => authority.as_str().as_bytes(),
        (None, None) if head.version == Version::HTTP_10 => return Ok(told(&target::Authority::none())),
        (None, None) => return Err(bad("no `host`")),
    };
    HOSTS.with(|known| {
        known.value(raw, || {
            let authority = target::authority(raw).map_err(bad)?;
            Ok((Box::from(raw), told(&authority)))
        })
    })
}

/// An authority as requests know it, and how much of it is the host.
type Told = (Arc<str>, usize);

fn told(authority: &target::Authority<'_>) -> Told {
    (authority.as_str().into(), authority.host().len())
}

fn bad(cause: impl ToString) -> Failed {
    Failed::because(Kind::BadRequest, cause)
}
