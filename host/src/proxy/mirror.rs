//! Copies of requests to a second upstream. A copy is put together beside the request and sent by a task of its
//! own once it is whole, so that a mirror that is slow or dead costs the request nothing; what the mirror answers
//! is read and forgotten.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::uri::{Parts, Scheme};
use http::{HeaderValue, Uri, Version, header};
use pingora::connectors::http::Connector;
use pingora::http::RequestHeader;
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use pingora::upstreams::peer::{HttpPeer, Peer as _};
use pingora::{Error, ErrorType, Result};

use crate::snapshot::{Mirror, MirrorOutcome};
use crate::upstream::Ask;

use super::ctx::{Ctx, RequestBody};
use super::worker;

/// Its idle connections are apart from those of the proxy.
static CONNECTOR: LazyLock<Connector> = LazyLock::new(|| Connector::new(None));

/// Interim responses that are passed over.
const MAX_INTERIM: usize = 10;

/// Bytes of a response that are read so that the connection can be used again. One that goes on is cut.
const MAX_RESPONSE: usize = 1024 * 1024;

/// A copy in the making.
pub(crate) struct Copy {
    mirror: Arc<Mirror>,
    head: Box<RequestHeader>,
    body: Vec<Bytes>,
    size: usize,
}

/// Whether a request is copied.
#[derive(Default)]
pub(crate) enum Mirroring {
    #[default]
    Undecided,
    /// It is not, or no longer.
    No,
    Collecting(Box<Copy>),
}

/// Begins the copy of what an attempt sends. A second attempt is no second copy.
pub(crate) fn begin(session: &mut Session, head: &RequestHeader, ctx: &mut Ctx) {
    let Some(mirror) = ctx.entry().and_then(|entry| entry.mirror.clone()) else { return };
    match ctx.mirroring {
        Mirroring::No => return,
        // An attempt that failed before the body was whole.
        Mirroring::Collecting(_) => {}
        Mirroring::Undecided => {
            let drawn = fastrand::u8(0..100) < mirror.settings.share;
            if !drawn || session.is_upgrade_req() {
                ctx.mirroring = Mirroring::No;
                return;
            }
        }
    }
    let copy = Box::new(Copy { mirror, head: Box::new(head.clone()), body: Vec::new(), size: 0 });
    ctx.mirroring = Mirroring::Collecting(copy);
    // Plugins that get the body's pieces get the end of an empty one, too, and may refuse or add to it.
    let streamed = matches!(ctx.request_body, RequestBody::Streamed | RequestBody::Begun);
    if session.as_mut().is_body_empty() && !streamed {
        finish(ctx);
    }
}

/// Adds what goes to the upstream; sends the copy at the end.
pub(crate) fn body(ctx: &mut Ctx, chunk: Option<&Bytes>, end_of_stream: bool) {
    let Mirroring::Collecting(copy) = &mut ctx.mirroring else { return };
    if let Some(chunk) = chunk {
        copy.size = copy.size.saturating_add(chunk.len());
        if copy.size > copy.mirror.settings.max_body {
            copy.mirror.count(MirrorOutcome::TooLarge);
            ctx.mirroring = Mirroring::No;
            return;
        }
        copy.body.push(chunk.clone());
    }
    if end_of_stream {
        finish(ctx);
    }
}

fn finish(ctx: &mut Ctx) {
    let Mirroring::Collecting(copy) = std::mem::replace(&mut ctx.mirroring, Mirroring::No) else { return };
    let mirror = Arc::clone(&copy.mirror);
    let upstream = ctx.generation.upstreams.get(mirror.settings.upstream);
    let ask = Ask { key: None, tried: &[] };
    let Some(hold) = upstream.and_then(|upstream| upstream.pick(&ask).ok()) else {
        mirror.count(MirrorOutcome::NoPeer);
        return;
    };
    let Some(slot) = mirror.enter() else {
        mirror.count(MirrorOutcome::Overload);
        return;
    };
    let peer = worker::http_peer(hold.peer());
    // It lives on this worker, and ends with it.
    tokio::spawn(async move {
        let sent = tokio::time::timeout(mirror.settings.timeout, exchange(*copy, peer)).await;
        mirror.count(match sent {
            Ok(Ok(())) => MirrorOutcome::Answered,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a mirror failed");
                MirrorOutcome::Failed
            }
            Err(_) => MirrorOutcome::TimedOut,
        });
        drop((slot, hold));
    });
}

/// Sends a copy and reads what comes back.
async fn exchange(copy: Copy, peer: Box<HttpPeer>) -> Result<()> {
    let Copy { mut head, body, size, .. } = copy;
    let (mut session, _) = CONNECTOR.get_http_session(&*peer).await?;
    session.set_read_timeout(peer.options.read_timeout);
    session.set_write_timeout(peer.options.write_timeout);
    head.remove_header(&header::TRANSFER_ENCODING);
    head.remove_header(&header::CONTENT_LENGTH);
    if size > 0 {
        head.insert_header(header::CONTENT_LENGTH, size)?;
    }
    fit_protocol(&mut head, matches!(session, HttpSession::H2(_)).then_some(scheme(&peer)))?;
    session.write_request_header(head).await?;
    for chunk in body {
        session.write_request_body(chunk, false).await?;
    }
    session.finish_request_body().await?;
    read(&mut session).await?;
    CONNECTOR.release_http_session(session, &*peer, peer.idle_timeout()).await;
    Ok(())
}

async fn read(session: &mut HttpSession) -> Result<()> {
    for _ in 0..MAX_INTERIM {
        session.read_response_header().await?;
        if session.response_header().is_some_and(|head| !head.status.is_informational()) {
            let mut read = 0;
            while let Some(chunk) = session.read_response_body().await? {
                read += chunk.len();
                if read > MAX_RESPONSE {
                    return Err(Error::explain(ErrorType::InvalidHTTPHeader, "a mirror's answer is long"));
                }
            }
            return Ok(());
        }
    }
    Err(Error::explain(ErrorType::InvalidHTTPHeader, "a mirror has no end of interim responses"))
}

fn scheme(peer: &HttpPeer) -> Scheme {
    if peer.is_tls() { Scheme::HTTPS } else { Scheme::HTTP }
}

/// The head was made for the request's own upstream: HTTP/2 has its authority in the URI, HTTP/1.1 in `host`.
fn fit_protocol(head: &mut RequestHeader, http2: Option<Scheme>) -> Result<()> {
    let authority = match (head.uri.authority(), head.headers.get(header::HOST)) {
        (Some(authority), _) => HeaderValue::from_str(authority.as_str()).ok(),
        (None, host) => host.cloned(),
    };
    let mut parts = Parts::default();
    parts.path_and_query = head.uri.path_and_query().cloned();
    match http2 {
        Some(scheme) => {
            parts.scheme = Some(scheme);
            parts.authority = authority.and_then(|host| http::uri::Authority::try_from(host.as_bytes()).ok());
            head.remove_header(&header::HOST);
            head.set_version(Version::HTTP_2);
        }
        None => {
            if let Some(authority) = authority {
                head.insert_header(header::HOST, authority)?;
            }
            head.set_version(Version::HTTP_11);
        }
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        head.set_uri(uri);
    }
    Ok(())
}
