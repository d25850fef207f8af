//! An origin that speaks gRPC in the clear: sends a call's message back and ends with trailers, or refuses it with a
//! head alone.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response};

use crate::origin::start;

/// A server on loopback.
#[derive(Debug)]
pub struct GrpcOrigin {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<HeaderMap>>>,
}

impl GrpcOrigin {
    /// # Panics
    /// There is no port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
        let keep = Arc::clone(&seen);
        start("gRPC origin", move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&keep)));
                }
            });
        });
        Self { address, seen }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The fields of every call, in order.
    pub fn seen(&self) -> Vec<HeaderMap> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn serve(stream: tokio::net::TcpStream, seen: Arc<Mutex<Vec<HeaderMap>>>) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(call) = connection.accept().await {
        let (request, respond) = call?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.headers().clone());
        tokio::spawn(answer(request, respond));
    }
    Ok(())
}

/// `/shop.Orders/Refuse` is refused, everything else echoed.
async fn answer(
    request: Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let mut head = Response::new(());
    let kind = HeaderValue::from_static("application/grpc+proto");
    head.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    if request.uri().path().ends_with("/Refuse") {
        head.headers_mut().insert("grpc-status", HeaderValue::from_static("5"));
        return respond.send_response(head, true).map(drop);
    }
    let mut stream = request.into_body();
    let mut message = BytesMut::new();
    while let Some(piece) = stream.data().await {
        message.extend_from_slice(&piece?);
    }
    let mut body = respond.send_response(head, false)?;
    body.send_data(message.freeze(), false)?;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers.insert("grpc-message", HeaderValue::from_static("fine"));
    body.send_trailers(trailers)
}
