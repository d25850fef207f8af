//! One check of one peer: a connection, a request over HTTP, or a call of gRPC's health service. The same client,
//! protocol and TLS settings as for requests. Knows no schedule.

use bytes::Bytes;
use http::{Method, header};
use pingora::connectors::http::Connector;
use pingora::connectors::{ConnectorOptions, TransportConnector};
use pingora::http::RequestHeader;
use pingora::upstreams::peer::{ALPN, HttpPeer};

use crate::config::model::{Health, Probe};
use crate::upstream::Peer;

/// Connections of checks are not kept.
const KEPT: usize = 1;

/// Where the health service of gRPC is (grpc.health.v1).
const GRPC_CHECK: &[u8] = b"/grpc.health.v1.Health/Check";

/// An answer of the health service is some bytes long: what is longer is none.
const MAX_GRPC_ANSWER: usize = 1024;

/// What checks go out with.
pub(super) struct Prober {
    http: Connector,
    transport: TransportConnector,
}

impl Prober {
    pub(super) fn new() -> Self {
        let options = || Some(ConnectorOptions::new(KEPT));
        Self { http: Connector::new(options()), transport: TransportConnector::new(options()) }
    }

    /// Asks once. Takes as long as it takes: the caller sets the limit.
    ///
    /// # Errors
    /// It is not well; the text says why, for the log.
    pub(super) async fn probe(&self, peer: &Peer, health: &Health) -> Result<(), String> {
        let mut http_peer = *peer.http_peer();
        match &health.probe {
            Probe::Tcp => {
                // Whether it takes connections: who it is, requests ask.
                http_peer.scheme = pingora::upstreams::peer::Scheme::HTTP;
                self.transport.new_stream(&http_peer).await.map(|_| ()).map_err(|error| error.to_string())
            }
            Probe::Http { path, expected } => {
                let status = self.get(&http_peer, path.as_bytes(), &host(peer, health)).await;
                let status = status.map_err(|error| error.to_string())?;
                if expected.iter().any(|range| range.contains(&status)) {
                    Ok(())
                } else {
                    Err(format!("status {status}"))
                }
            }
            Probe::Grpc { service } => {
                http_peer.options.alpn = ALPN::H2;
                let answer = self.call(&http_peer, service, &host(peer, health)).await;
                let answer = answer.map_err(|error| error.to_string())?;
                if is_serving(&answer) { Ok(()) } else { Err("not serving".to_owned()) }
            }
        }
    }

    async fn get(&self, peer: &HttpPeer, path: &[u8], host: &str) -> pingora::Result<u16> {
        let (mut session, _) = self.http.get_http_session(peer).await?;
        let mut head = RequestHeader::build(Method::GET, path, None)?;
        head.insert_header(header::HOST, host)?;
        head.insert_header(header::USER_AGENT, "edgewright-check")?;
        session.write_request_header(Box::new(head)).await?;
        session.finish_request_body().await?;
        loop {
            session.read_response_header().await?;
            let status = session.response_header().map_or(0, |head| head.status.as_u16());
            // Interim responses come before the one that counts (RFC 9110, section 15.2).
            if !(100..200).contains(&status) || status == 101 {
                session.shutdown().await;
                return Ok(status);
            }
        }
    }

    async fn call(&self, peer: &HttpPeer, service: &str, host: &str) -> pingora::Result<Vec<u8>> {
        let (mut session, _) = self.http.get_http_session(peer).await?;
        let mut head = RequestHeader::build(Method::POST, GRPC_CHECK, None)?;
        head.insert_header(header::HOST, host)?;
        head.insert_header(header::CONTENT_TYPE, "application/grpc")?;
        head.insert_header(header::TE, "trailers")?;
        session.write_request_header(Box::new(head)).await?;
        session.write_request_body(question(service), true).await?;
        session.finish_request_body().await?;
        session.read_response_header().await?;
        let mut answer = Vec::new();
        while let Some(piece) = session.read_response_body().await? {
            answer.extend_from_slice(&piece);
            if answer.len() > MAX_GRPC_ANSWER {
                break;
            }
        }
        session.shutdown().await;
        Ok(answer)
    }
}

impl std::fmt::Debug for Prober {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prober")
    }
}

/// What a check says it wants: the configured host, the peer's name, or its address.
fn host(peer: &Peer, health: &Health) -> String {
    match (&health.host, peer.endpoint().address()) {
        (Some(host), _) => host.clone(),
        (None, Some(address)) => address.to_string(),
        (None, None) => "localhost".to_owned(),
    }
}

/// A message of gRPC: not compressed, its length, then `HealthCheckRequest { service = 1: string }`.
fn question(service: &str) -> Bytes {
    let mut message = Vec::new();
    if !service.is_empty() {
        // The configuration takes names of up to 127 bytes: their length is one byte of a varint.
        message.extend([0x0a, u8::try_from(service.len()).unwrap_or(0x7f)]);
        message.extend(service.bytes().take(0x7f));
    }
    let length = u32::try_from(message.len()).unwrap_or(0);
    [&[0], length.to_be_bytes().as_slice(), &message].concat().into()
}

/// Whether it is `HealthCheckResponse { status = 1: SERVING = 1 }`. Without an answer, or with another one, it isn't.
fn is_serving(answer: &[u8]) -> bool {
    matches!(answer, [0, 0, 0, 0, 2, 0x08, 0x01, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_health_service() {
        assert_eq!(question(""), b"\0\0\0\0\0".as_slice());
        assert_eq!(question("a.B"), b"\0\0\0\0\x05\x0a\x03a.B".as_slice());
        let check = |answer: &[u8], expected: bool| assert_eq!(is_serving(answer), expected, "{answer:?}");
        check(b"\0\0\0\0\x02\x08\x01", true);
        check(b"\0\0\0\0\x02\x08\x02", false);
        check(b"\0\0\0\0\x00", false);
        check(b"", false);
        check(b"\x01\0\0\0\x02\x08\x01", false);
    }
}
