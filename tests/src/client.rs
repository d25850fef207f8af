//! Clients: bytes in, bytes out. A request is written as it is told, however wrong.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use crate::message::{Head, Response};
use crate::tls::TlsClient;
use crate::wait::DEADLINE;
use crate::wire::Wire;

/// A request to send.
#[derive(Debug, Clone)]
pub struct Ask {
    method: String,
    target: Vec<u8>,
    host: Option<Vec<u8>>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

/// A GET with `Host: a.test`.
pub fn get(target: impl AsRef<[u8]>) -> Ask {
    ask("GET", target)
}

/// A request with `Host: a.test`.
pub fn ask(method: &str, target: impl AsRef<[u8]>) -> Ask {
    Ask {
        method: method.to_owned(),
        target: target.as_ref().to_vec(),
        host: Some(b"a.test".to_vec()),
        fields: Vec::new(),
        body: None,
    }
}

impl Ask {
    #[must_use]
    pub fn host(mut self, host: impl AsRef<[u8]>) -> Self {
        self.host = Some(host.as_ref().to_vec());
        self
    }

    /// Adds a line; repeat it for several.
    #[must_use]
    pub fn header(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.fields.push((name.as_ref().to_vec(), value.as_ref().to_vec()));
        self
    }

    /// A body, with its length.
    #[must_use]
    pub fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = Some(body.as_ref().to_vec());
        self
    }

    /// As it goes over the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = [self.method.as_bytes(), b" ", &self.target, b" HTTP/1.1\r\n"].concat();
        let mut line = |name: &[u8], value: &[u8]| out.extend([name, b": ", value, b"\r\n"].concat());
        if let Some(host) = &self.host {
            line(b"Host", host);
        }
        for (name, value) in &self.fields {
            line(name, value);
        }
        if let Some(body) = &self.body {
            line(b"Content-Length", body.len().to_string().as_bytes());
        }
        out.extend(b"\r\n");
        out.extend(self.body.iter().flatten());
        out
    }

    /// Sends it on a connection of its own and waits for the response.
    ///
    /// # Panics
    /// There is none.
    pub fn send(&self, to: SocketAddr) -> Response {
        Connection::open(to).ask(self)
    }
}

/// A client's connection, kept until it is dropped.
#[derive(Debug)]
pub struct Connection {
    wire: Wire,
}

impl Connection {
    /// # Panics
    /// Nothing listens there.
    pub fn open(to: SocketAddr) -> Self {
        Self::try_open(to).unwrap_or_else(|error| panic!("no connection to {to}: {error}"))
    }

    /// # Errors
    /// Nothing listens there.
    pub fn try_open(to: SocketAddr) -> io::Result<Self> {
        Ok(Self { wire: Wire::new(TcpStream::connect_timeout(&to, DEADLINE)?)? })
    }

    /// A connection within TLS, for the virtual host of that name.
    ///
    /// # Panics
    /// Nothing listens there, or the handshake fails.
    pub fn secure(to: SocketAddr, client: &TlsClient, name: &str) -> Self {
        Self::try_secure(to, client, name).unwrap_or_else(|error| panic!("no TLS with {to}: {error}"))
    }

    /// # Errors
    /// Nothing listens there, or the handshake fails.
    pub fn try_secure(to: SocketAddr, client: &TlsClient, name: &str) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&to, DEADLINE)?;
        Ok(Self { wire: Wire::secure(stream, client.session(name))? })
    }

    /// A connection within TLS, with these bytes in front of it.
    ///
    /// # Panics
    /// Nothing listens there, or the handshake fails.
    pub fn secure_behind(to: SocketAddr, front: &[u8], client: &TlsClient, name: &str) -> Self {
        let mut stream = TcpStream::connect_timeout(&to, DEADLINE).expect("a connection");
        std::io::Write::write_all(&mut stream, front).expect("the connection takes bytes");
        let wire = Wire::secure(stream, client.session(name));
        Self { wire: wire.unwrap_or_else(|error| panic!("no TLS with {to}: {error}")) }
    }

    /// The TLS session.
    ///
    /// # Panics
    /// The connection is in the clear.
    pub fn session(&self) -> &rustls::ClientConnection {
        self.wire.session().expect("a connection within TLS")
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// The peer is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.wire.send(bytes.as_ref()).expect("the connection takes bytes");
    }

    /// Sends a request and waits for its response.
    ///
    /// # Panics
    /// There is none.
    pub fn ask(&mut self, ask: &Ask) -> Response {
        self.send(ask.bytes());
        self.response_to(&ask.method)
    }

    /// Sends a request and waits for its response.
    ///
    /// # Errors
    /// The connection ends or stalls before it is whole.
    pub fn try_ask(&mut self, ask: &Ask) -> io::Result<Response> {
        self.wire.send(&ask.bytes())?;
        self.try_response_to(&ask.method)
    }

    /// The next response, read as one to a request of that method; interim ones are passed over.
    ///
    /// # Panics
    /// There is none.
    pub fn response_to(&mut self, method: &str) -> Response {
        self.try_response_to(method).unwrap_or_else(|error| panic!("no response to {method}: {error}"))
    }

    /// The next response.
    ///
    /// # Errors
    /// The connection ends or stalls before it is whole.
    pub fn try_response_to(&mut self, method: &str) -> io::Result<Response> {
        loop {
            let head = self.wire.head()?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let status = head.status();
            if (100..200).contains(&status) && status != 101 {
                continue;
            }
            let body = self.wire.body(head.response_framing(method))?;
            return Ok(Response { status, head, body });
        }
    }

    /// The next head as it comes, an interim one (100 to 199), too.
    ///
    /// # Panics
    /// There is none.
    pub fn head(&mut self) -> Head {
        self.wire.head().expect("a head").expect("a head before the end of the connection")
    }

    /// Waits until this text has come behind what was read, and leaves it there.
    ///
    /// # Panics
    /// It does not come.
    pub fn wait_for_text(&mut self, text: &str) {
        while !self.wire.ahead().windows(text.len()).any(|window| window == text.as_bytes()) {
            let read = self.wire.fill().expect("bytes in time");
            assert!(read > 0, "the connection ended before `{text}`: {}", self.leftover().escape_ascii());
        }
    }

    /// The connection does what a response said of it: ends, or answers the next request with 200.
    ///
    /// # Panics
    /// It doesn't, or bytes are left behind the response.
    pub fn expect_sound(&mut self, after: &Response) {
        assert!(self.leftover().is_empty(), "behind {:?}: {}", after.head, self.leftover().escape_ascii());
        if after.field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            assert!(self.closes_within(DEADLINE), "said close and went on: {:?}", after.head);
        } else {
            assert_eq!(self.ask(&get("/next")).status, 200, "behind {:?}", after.head);
        }
    }

    /// Whether the peer ends the connection, with nothing more to say, before `time` is over.
    pub fn closes_within(&mut self, time: Duration) -> bool {
        self.wire.patience(Some(time));
        match self.wire.fill() {
            Ok(read) => read == 0 && self.wire.ahead().is_empty(),
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }

    /// The next bytes, whatever they are.
    ///
    /// # Panics
    /// They don't come.
    pub fn take(&mut self, length: usize) -> Vec<u8> {
        self.wire.exactly(length).unwrap_or_else(|error| panic!("not {length} bytes: {error}"))
    }

    /// Waits for as long as ever again, after a shorter wait.
    pub fn patience(&self) {
        self.wire.patience(Some(DEADLINE));
    }

    /// Says that nothing more will be sent.
    pub fn finish(&self) {
        let _ = self.wire.stream().shutdown(Shutdown::Write);
    }

    /// What came and was not part of a response that was read.
    pub fn leftover(&self) -> &[u8] {
        self.wire.ahead()
    }
}
