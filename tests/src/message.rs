//! HTTP/1.1 messages as they came over the wire: bytes, in order, nothing folded away. Knows no sockets.

use std::fmt;

/// A start line with its fields, as sent.
#[derive(Clone)]
pub struct Head {
    /// All of it, without the empty line.
    pub raw: Vec<u8>,
    /// The start line.
    pub start: Vec<u8>,
    /// Names in lower case, values without white space around them, in order.
    pub fields: Vec<(String, Vec<u8>)>,
}

/// A request that an origin received.
#[derive(Debug, Clone)]
pub struct Received {
    pub head: Head,
    /// Decoded.
    pub body: Vec<u8>,
    pub framing: Framing,
    /// Which of the origin's connections it came on, from 1.
    pub connection: usize,
}

/// A response that a client received.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub head: Head,
    /// Decoded.
    pub body: Vec<u8>,
}

/// How the end of a body was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    None,
    Length(usize),
    Chunked,
    /// By the end of the connection.
    Close,
}

impl Head {
    /// Reads a head; lenient, as tests look at what is wrong with it.
    pub fn parse(raw: &[u8]) -> Self {
        let mut lines = raw.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let start = lines.next().unwrap_or_default().to_vec();
        let fields = lines
            .filter(|line| !line.is_empty())
            .map(|line| {
                let colon = line.iter().position(|&b| b == b':').unwrap_or(line.len());
                let (name, value) = line.split_at(colon);
                let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
                (String::from_utf8_lossy(name).to_ascii_lowercase(), value.to_vec())
            })
            .collect();
        Self { raw: raw.to_vec(), start, fields }
    }

    /// The values of all lines of that name, in order.
    pub fn all(&self, name: &str) -> Vec<&[u8]> {
        self.fields.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_slice()).collect()
    }

    /// The only line of that name as text, or `None`.
    ///
    /// # Panics
    /// There are several.
    pub fn field(&self, name: &str) -> Option<String> {
        let all = self.all(name);
        assert!(all.len() <= 1, "{} lines of `{name}` in\n{self:?}", all.len());
        all.first().map(|value| String::from_utf8_lossy(value).into_owned())
    }

    pub fn has(&self, name: &str) -> bool {
        !self.all(name).is_empty()
    }

    /// The names, sorted and without repetition.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Status of a response's start line; 0 where there is none.
    pub fn status(&self) -> u16 {
        self.word(1).parse().unwrap_or(0)
    }

    /// Method of a request's start line.
    pub fn method(&self) -> String {
        self.word(0)
    }

    /// Target of a request's start line.
    pub fn target(&self) -> String {
        self.word(1)
    }

    fn word(&self, index: usize) -> String {
        let word = self.start.split(|&b| b == b' ').nth(index).unwrap_or_default();
        String::from_utf8_lossy(word).into_owned()
    }

    /// How the body behind this head ends, by its fields alone.
    pub fn framing(&self) -> Framing {
        if self.all("transfer-encoding").iter().any(|value| value.to_ascii_lowercase().ends_with(b"chunked"))
        {
            return Framing::Chunked;
        }
        match self.all("content-length").first().map(|value| String::from_utf8_lossy(value).parse()) {
            Some(Ok(length)) => Framing::Length(length),
            _ => Framing::None,
        }
    }

    /// How the body of a response ends. RFC 9112, section 6.3.
    pub fn response_framing(&self, method: &str) -> Framing {
        match self.status() {
            100..200 | 204 | 304 => Framing::None,
            _ if method == "HEAD" => Framing::None,
            _ => match self.framing() {
                Framing::None => Framing::Close,
                told => told,
            },
        }
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.raw.escape_ascii().to_string().replace("\\r\\n", "\n"))
    }
}

impl Received {
    /// See [`Head::field`].
    pub fn field(&self, name: &str) -> Option<String> {
        self.head.field(name)
    }

    pub fn target(&self) -> String {
        self.head.target()
    }
}

impl Response {
    /// See [`Head::field`].
    pub fn field(&self, name: &str) -> Option<String> {
        self.head.field(name)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Itself, if it has that status.
    ///
    /// # Panics
    /// It has another.
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.head, self.text());
        self
    }
}
