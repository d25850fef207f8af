//! An origin that takes its time: answers each request after a delay, in this process. Knows no proxy.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::contender::ANSWER_BYTES;

/// Stops when dropped.
#[derive(Debug)]
pub(crate) struct SlowOrigin {
    pub(crate) address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl SlowOrigin {
    /// # Errors
    /// Where no port is free.
    pub(crate) async fn start(delay: Duration) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, delay));
            }
        });
        Ok(Self { address, accepting })
    }
}

impl Drop for SlowOrigin {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Requests without bodies, one after the other, until the connection ends.
async fn serve(mut stream: TcpStream, delay: Duration) {
    let body = "x".repeat(ANSWER_BYTES);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {ANSWER_BYTES}\r\n\r\n{body}");
    let mut head = Vec::new();
    loop {
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_buf(&mut head).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
        head.clear();
        tokio::time::sleep(delay).await;
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
