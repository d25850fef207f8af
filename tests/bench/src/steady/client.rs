//! One connection of the load: one request at a time, and its answer. Knows no schedule.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Its answers are read into this: more than a head and a body of the bench.
const BUFFER: usize = 16 << 10;

pub(super) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// When the request that is on its way was due.
    due: Option<Instant>,
}

/// An answer that came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) due: Instant,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER], filled: 0, due: None })
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request, which fits into any send buffer.
    pub(super) fn send(&mut self, request: &[u8], due: Instant) -> Result<()> {
        self.stream.write_all(request).context("a request can't be sent")?;
        self.due = Some(due);
        Ok(())
    }

    /// Reads what is there. `None`: the answer has not come to its end.
    pub(super) fn read(&mut self) -> Result<Option<Answered>> {
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match self.stream.read(room) {
            Ok(0) => bail!("void: a connection was closed"),
            Ok(count) => self.filled += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error).context("void: a connection broke"),
        }
        let Some(status) = whole(self.buffer.get(..self.filled).unwrap_or_default())? else {
            return Ok(None);
        };
        self.filled = 0;
        let due = self.due.take().context("void: an answer to nothing")?;
        Ok(Some(Answered { status, due }))
    }
}

/// The status of an answer that is there as a whole, by its `content-length`.
fn whole(bytes: &[u8]) -> Result<Option<u16>> {
    let Some(end) = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(None) };
    let (head, body) = bytes.split_at(end);
    let head = std::str::from_utf8(head)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.context("void: an answer without `content-length`")?;
    Ok(if body.len() >= 4 + length { Some(status.context("void: not HTTP")?) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_where_they_say() {
        let check = |input: &str, expected: Option<u16>| {
            assert_eq!(whole(input.as_bytes()).unwrap(), expected, "{input}");
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Some(200));
        check("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", Some(503));
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", None);
        check("HTTP/1.1 200 OK\r\nContent-Le", None);
        assert!(whole(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
