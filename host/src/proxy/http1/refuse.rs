//! The answer to a head that never reaches Pingora, with its line in the access log.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::BytesMut;
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::observe::access_log::{Escaped, Record};
use crate::proxy::downstream::Downstream;
use crate::proxy::failure::Failed;
use crate::proxy::local_response;
use crate::proxy::request_id;

use super::Http1;

/// How long the client may take to take the answer, and to see that it is the last.
const DEADLINE: Duration = Duration::from_secs(2);

/// Of what the client still sends, this much is read: a connection that is closed with bytes unread is reset, and
/// the client may never see the answer.
const LINGER: u64 = 1024 * 1024;

/// Answers, writes the log line, and ends the connection.
pub(super) async fn answer(http1: &Http1, mut stream: Box<Downstream>, failed: Failed) {
    let id = request_id::fresh();
    let status = failed.kind.status();
    let peer = stream.connection().peer;
    let head = BytesMut::from(stream.ahead());
    let sent = match status {
        Some(status) => write(&mut stream, &failed, status, &id).await.unwrap_or(0),
        None => 0,
    };
    let generation = http1.generation.load_full();
    generation.unrouted.observe(status.map_or(0, |status| status.as_u16()), Duration::ZERO);
    if let Some(log) = &generation.access_log {
        let (method, target) = request_line(&head);
        log.write(&Record {
            time: SystemTime::now(),
            request_id: Some(&id),
            client: Some(peer.ip().to_canonical()),
            method,
            host: None,
            target: target.map(Escaped),
            protocol: None,
            status: status.map_or(0, |status| status.as_u16()),
            duration_us: 0,
            request_bytes: 0,
            response_bytes: sent,
            user_agent: None,
            referer: None,
            route: None,
            upstream: None,
            peer: None,
            attempts: 0,
            decided_by: None,
            error: Some(failed.kind.word()),
            cause: failed.cause.as_ref().map(|cause| Escaped(cause.as_bytes())),
            plugins: Vec::new(),
            attributes: Vec::new(),
        });
    }
    if status.is_some() {
        let _ = timeout(DEADLINE, linger(&mut stream)).await;
    }
}

/// Returns the length of the page.
async fn write(stream: &mut Downstream, failed: &Failed, status: StatusCode, id: &str) -> io::Result<u64> {
    let page = local_response::page(status, id);
    let date = httpdate::fmt_http_date(SystemTime::now());
    let mut bytes = format!(
        "HTTP/1.1 {} {}\r\ndate: {date}\r\nconnection: close\r\ncontent-length: {}\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        page.body.len(),
    )
    .into_bytes();
    if failed.kind.is_passing() {
        bytes.extend_from_slice(b"retry-after: 1\r\n");
    }
    for (name, value) in &page.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&page.body);
    timeout(DEADLINE, async {
        stream.write_all(&bytes).await?;
        stream.flush().await
    })
    .await??;
    Ok(page.body.len() as u64)
}

async fn linger(stream: &mut Downstream) -> io::Result<()> {
    AsyncWriteExt::shutdown(stream).await?;
    stream.open();
    tokio::io::copy(&mut stream.take(LINGER), &mut tokio::io::sink()).await?;
    Ok(())
}

/// Method and target of what was sent, as far as there are any.
fn request_line(head: &[u8]) -> (Option<&str>, Option<&[u8]>) {
    let line = head.trim_ascii_start().split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let mut parts = line.splitn(2, |byte| *byte == b' ');
    let method = parts.next().and_then(|method| std::str::from_utf8(method).ok());
    let method = method
        .filter(|method| (1..=32).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_graphic()));
    let rest = parts.next().map(|rest| {
        let version = rest.iter().rposition(|byte| *byte == b' ');
        let target = rest.get(..version.unwrap_or(rest.len())).unwrap_or_default();
        // What the log has room for.
        target.get(..MAX_TARGET.min(target.len())).unwrap_or_default()
    });
    method.map_or((None, None), |method| (Some(method), rest.filter(|target| !target.is_empty())))
}

/// Of a target that is refused, the log has this many bytes.
const MAX_TARGET: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_what_can_be_read_of_a_request_line() {
        let check = |head: &str, method: Option<&str>, target: Option<&str>| {
            let found = request_line(head.as_bytes());
            assert_eq!(found, (method, target.map(str::as_bytes)), "{head:?}");
        };
        check("GET /a b HTTP/1.1\r\nHost: a\r\n", Some("GET"), Some("/a b"));
        check("GET /secret", Some("GET"), Some("/secret"));
        check("\r\nGET / HTTP/3.0\r\n", Some("GET"), Some("/"));
        check("GET", Some("GET"), None);
        check("\u{16}\u{3}\u{1}", None, None);
        check("", None, None);
    }
}
