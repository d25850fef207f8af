//! A client for HTTP/2: in the clear with prior knowledge, or within TLS. Fields are sent one by one, as they
//! are listed.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::tls::TlsClient;
use crate::wait::DEADLINE;

/// A response over HTTP/2.
#[derive(Debug, Clone)]
pub struct H2Response {
    pub status: u16,
    /// In order.
    pub fields: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl H2Response {
    /// The values of all lines of that name, in order.
    pub fn all(&self, name: &str) -> Vec<&[u8]> {
        self.fields.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_slice()).collect()
    }
}

/// Asks for `path` of `http://a.test` with these fields.
///
/// # Panics
/// No response comes within [`DEADLINE`].
pub fn get(to: SocketAddr, path: &str, fields: &[(&str, &str)]) -> H2Response {
    send(to, &request(Method::GET, path, fields), None)
}

/// As [`get`], with what the proxy made of the stream where that breaks off.
///
/// # Errors
/// The stream was reset, or the connection ended.
///
/// # Panics
/// Nothing comes within [`DEADLINE`].
pub fn try_get(to: SocketAddr, path: &str, fields: &[(&str, &str)]) -> Result<H2Response, h2::Error> {
    try_send(to, &request(Method::GET, path, fields), None)
}

/// HEAD in place of GET.
///
/// # Errors
/// The stream was reset, or the connection ended.
///
/// # Panics
/// Nothing comes within [`DEADLINE`].
pub fn try_head(to: SocketAddr, path: &str, fields: &[(&str, &str)]) -> Result<H2Response, h2::Error> {
    try_send(to, &request(Method::HEAD, path, fields), None)
}

/// POSTs a body in these frames without telling its length, and ends it with an empty frame.
///
/// # Panics
/// No response comes within [`DEADLINE`].
pub fn post(to: SocketAddr, path: &str, frames: &[&'static str]) -> H2Response {
    send(to, &request(Method::POST, path, &[]), Some(frames))
}

/// The same within TLS, for the virtual host of that name, and for `path` of it.
///
/// # Panics
/// No response comes within [`DEADLINE`], or the server would not speak HTTP/2.
pub fn get_secure(to: SocketAddr, client: &TlsClient, name: &str, host: &str, path: &str) -> H2Response {
    let mut request = request(Method::GET, path, &[]);
    *request.uri_mut() = format!("https://{host}{path}").parse().expect("a path");
    let connector = TlsConnector::from(client.config());
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    block_on(async {
        let stream = TcpStream::connect(to).await.expect("a connection");
        let stream = connector.connect(name, stream).await.expect("a handshake");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        exchange(stream, &request, None).await
    })
    .unwrap_or_else(|error| panic!("HTTP/2 to {to}, {}: {error}", request.uri()))
}

fn request(method: Method, path: &str, fields: &[(&str, &str)]) -> Request<()> {
    let uri: Uri = format!("http://a.test{path}").parse().expect("a path");
    let mut request = Request::new(());
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_2;
    for (name, value) in fields {
        let name: HeaderName = name.parse().expect("a field name");
        request.headers_mut().append(name, HeaderValue::from_str(value).expect("a field value"));
    }
    request
}

fn send(to: SocketAddr, request: &Request<()>, frames: Option<&[&'static str]>) -> H2Response {
    try_send(to, request, frames).unwrap_or_else(|error| panic!("HTTP/2 to {to}, {}: {error}", request.uri()))
}

fn try_send(
    to: SocketAddr,
    request: &Request<()>,
    frames: Option<&[&'static str]>,
) -> Result<H2Response, h2::Error> {
    block_on(async {
        let stream = TcpStream::connect(to).await.expect("a connection");
        exchange(stream, request, frames).await
    })
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answer = runtime.block_on(async { tokio::time::timeout(DEADLINE, work).await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    answer.expect("an answer over HTTP/2 in time")
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: &Request<()>,
    frames: Option<&[&'static str]>,
) -> Result<H2Response, h2::Error> {
    let (send, connection) = h2::client::handshake(stream).await?;
    tokio::spawn(connection);
    let (response, mut body) = send.ready().await?.send_request(request.clone(), frames.is_none())?;
    if let Some(frames) = frames {
        for frame in frames {
            body.send_data(Bytes::from_static(frame.as_bytes()), false)?;
        }
        body.send_data(Bytes::new(), true)?;
    }
    let (parts, mut stream) = response.await?.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece: Bytes = piece?;
        let _ = stream.flow_control().release_capacity(piece.len());
        body.extend(piece);
    }
    let fields =
        parts.headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    Ok(H2Response { status: parts.status.as_u16(), fields, body })
}
