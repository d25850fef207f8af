//! One connection that speaks HTTP/1.1, from either end, in the clear or within TLS: bytes that were read too
//! early wait here.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustls::{ClientConnection, StreamOwned};

use crate::message::{Framing, Head};
use crate::wait::DEADLINE;

/// A connection with what was read ahead. Reads and writes give up after [`DEADLINE`].
#[derive(Debug)]
pub struct Wire {
    stream: Transport,
    ahead: Vec<u8>,
}

#[derive(Debug)]
enum Transport {
    Clear(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Wire {
    /// # Errors
    /// The socket refuses its options.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        prepare(&stream)?;
        Ok(Self { stream: Transport::Clear(stream), ahead: Vec::new() })
    }

    /// The client's end of a TLS connection, with the handshake done.
    ///
    /// # Errors
    /// The peer refuses.
    pub fn secure(stream: TcpStream, session: ClientConnection) -> io::Result<Self> {
        prepare(&stream)?;
        let mut stream = StreamOwned::new(session, stream);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self { stream: Transport::Tls(Box::new(stream)), ahead: Vec::new() })
    }

    /// The TLS session, if it is one.
    pub fn session(&self) -> Option<&ClientConnection> {
        match &self.stream {
            Transport::Clear(_) => None,
            Transport::Tls(stream) => Some(&stream.conn),
        }
    }

    /// From now on, a read gives up after this long; `None` for never.
    pub fn patience(&self, time: Option<Duration>) {
        self.stream().set_read_timeout(time).expect("a time above zero");
    }

    pub fn stream(&self) -> &TcpStream {
        match &self.stream {
            Transport::Clear(stream) => stream,
            Transport::Tls(stream) => &stream.sock,
        }
    }

    /// From now on, the connection's end is a reset (RST) and not a FIN.
    ///
    /// # Panics
    /// The system refuses.
    pub fn will_reset(&self) {
        set_socket_linger(self.stream(), Some(Duration::ZERO)).expect("a socket");
    }

    /// # Errors
    /// The peer is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.stream {
            Transport::Clear(stream) => stream.write_all(bytes),
            Transport::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// One more read into the buffer: the number of bytes, 0 at the end.
    ///
    /// # Errors
    /// The peer is gone, or nothing came in time.
    pub fn fill(&mut self) -> io::Result<usize> {
        let mut piece = [0; 16 * 1024];
        let read = match &mut self.stream {
            Transport::Clear(stream) => stream.read(&mut piece)?,
            Transport::Tls(stream) => match stream.read(&mut piece) {
                // An end without TLS's own goodbye.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
                read => read?,
            },
        };
        self.ahead.extend(piece.iter().take(read));
        Ok(read)
    }

    /// What was read and not used.
    pub fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// The next head; `None` where the connection ends before one begins.
    ///
    /// # Errors
    /// The connection ends or stalls in the middle of it.
    pub fn head(&mut self) -> io::Result<Option<Head>> {
        match self.until(b"\r\n\r\n") {
            Ok(raw) => Ok(Some(Head::parse(&raw))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && self.ahead.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The body behind a head, decoded.
    ///
    /// # Errors
    /// It ends or stalls too early, or its chunks are broken.
    pub fn body(&mut self, framing: Framing) -> io::Result<Vec<u8>> {
        match framing {
            Framing::None => Ok(Vec::new()),
            Framing::Length(length) => self.exactly(length),
            Framing::Chunked => self.chunks(),
            Framing::Close => {
                while self.fill()? > 0 {}
                Ok(std::mem::take(&mut self.ahead))
            }
        }
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n")?;
            let digits = line.split(|&b| b == b';').next().unwrap_or_default();
            let size =
                std::str::from_utf8(digits).ok().and_then(|text| usize::from_str_radix(text.trim(), 16).ok());
            let Some(size) = size else {
                let shown = line.escape_ascii();
                return Err(io::Error::new(ErrorKind::InvalidData, format!("not a chunk size: `{shown}`")));
            };
            if size == 0 {
                while !self.until(b"\r\n")?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(size)?);
            self.until(b"\r\n")?;
        }
    }

    /// The next bytes, whatever they are.
    ///
    /// # Errors
    /// The connection ends or stalls too early.
    pub fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < length {
            self.more()?;
        }
        let rest = self.ahead.split_off(length);
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    /// Everything up to the mark, which is taken out and not returned.
    fn until(&mut self, mark: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.ahead.windows(mark.len()).position(|window| window == mark) {
                let rest = self.ahead.split_off(at + mark.len());
                let mut taken = std::mem::replace(&mut self.ahead, rest);
                taken.truncate(at);
                return Ok(taken);
            }
            self.more()?;
        }
    }

    fn more(&mut self) -> io::Result<()> {
        if self.fill()? == 0 {
            let got = self.ahead.escape_ascii();
            return Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                format!("the connection ended after `{got}`"),
            ));
        }
        Ok(())
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(DEADLINE))?;
    stream.set_read_timeout(Some(DEADLINE))
}
