//! The head of an HTTP/1 request as bytes, looked over before Pingora parses it: that it ends, is not too long, has a
//! request line of one reading, and how its body is framed. Pingora is more lenient in each of these. Reads nothing.

use crate::config::model::ClientLimits;
use crate::proxy::failure::{Failed, Kind};

/// What a head says of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes of it, its empty line included.
    pub(crate) length: usize,
    pub(crate) body: Body,
    /// There is an `upgrade` line.
    pub(crate) upgrade: bool,
}

impl Head {
    /// Whether a tunnel may come of it: of a request without a body alone.
    pub(crate) fn may_switch(&self) -> bool {
        self.upgrade && self.body == Body::None
    }
}

/// How a request's body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    Length(u64),
    Chunked,
}

/// Goes over a head while it arrives. Each byte is looked at once.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Where the line begins whose end was not seen yet.
    line: usize,
    /// Up to where there is no end of it.
    seen: usize,
    /// Lines behind the request line.
    fields: usize,
    has_request_line: bool,
    length: Option<u64>,
    chunked: bool,
    upgrade: bool,
}

impl Scanner {
    /// Looks at what is new in `buffer`, which holds the head from its first byte. `None`: it goes on.
    ///
    /// # Errors
    /// The request is refused.
    pub(super) fn advance(&mut self, buffer: &[u8], limits: &ClientLimits) -> Result<Option<Head>, Failed> {
        while let Some(found) = memchr::memchr(b'\n', buffer.get(self.seen..).unwrap_or_default()) {
            let end = self.seen + found;
            let line = buffer.get(self.line..end).unwrap_or_default();
            let (start, next) = (self.line, end + 1);
            (self.line, self.seen) = (next, next);
            if next > limits.header_bytes {
                return Err(self.too_long(start));
            }
            // A bare line feed is an end for some and not for others (RFC 9112, section 2.2).
            let Some(line) = line.strip_suffix(b"\r") else { return Err(bad("a line ends without `\\r`")) };
            if !self.has_request_line {
                // An empty line in front is what some old clients send (RFC 9112, section 2.2).
                if line.is_empty() {
                    continue;
                }
                request_line(line, limits)?;
                self.has_request_line = true;
            } else if line.is_empty() {
                return self.end(next).map(Some);
            } else {
                self.field(line)?;
                if self.fields > limits.header_lines {
                    return Err(Failed::new(Kind::HeadersTooLarge));
                }
            }
        }
        self.seen = buffer.len();
        if buffer.len() >= limits.header_bytes {
            return Err(self.too_long(self.line));
        }
        if !self.has_request_line {
            check_start(buffer.get(self.line..).unwrap_or_default(), limits)?;
        }
        Ok(None)
    }

    /// Whether nothing came but empty lines.
    pub(super) fn is_blank(&self) -> bool {
        !self.has_request_line && self.line == self.seen
    }

    fn too_long(&self, line: usize) -> Failed {
        // A request line that never ends is a target that never ends.
        let target = !self.has_request_line && line == 0;
        Failed::new(if target { Kind::TargetTooLong } else { Kind::HeadersTooLarge })
    }

    /// Takes note of a line that frames the message.
    fn field(&mut self, line: &[u8]) -> Result<(), Failed> {
        self.fields += 1;
        // By their lengths: most lines are none of these.
        let value = |name: &[u8]| {
            let (start, rest) = line.split_at_checked(name.len())?;
            start.eq_ignore_ascii_case(name).then_some(rest)?.strip_prefix(b":").map(<[u8]>::trim_ascii)
        };
        match line.first().map(u8::to_ascii_lowercase) {
            Some(b'c') => {
                if let Some(value) = value(b"content-length") {
                    self.content_length(value)?;
                }
            }
            Some(b't') => {
                if let Some(value) = value(b"transfer-encoding") {
                    self.transfer_encoding(value)?;
                }
            }
            Some(b'u') => self.upgrade |= value(b"upgrade").is_some(),
            // Folded lines are no more (RFC 9112, section 5.2).
            Some(b' ' | b'\t') => return Err(bad("a folded line")),
            _ => {}
        }
        Ok(())
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), Failed> {
        let plain = crate::proxy::content_length::is_plain(value);
        let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).filter(|_| plain);
        match (number, self.length) {
            (Some(number), None) => {
                self.length = Some(number);
                Ok(())
            }
            _ => Err(bad("`content-length` is not one plain number")),
        }
    }

    /// RFC 9112, section 6.1: a coding that isn't known is 501; one that is not last, or twice, is nonsense.
    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Failed> {
        if value.eq_ignore_ascii_case(b"chunked") && !self.chunked {
            self.chunked = true;
            return Ok(());
        }
        let mut codings: Vec<&[u8]> = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
        let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
        let last = codings.pop().is_some_and(is_chunked);
        let known = |coding: &&[u8]| {
            ["gzip", "x-gzip", "deflate", "compress", "x-compress"]
                .iter()
                .any(|name| coding.eq_ignore_ascii_case(name.as_bytes()))
        };
        if last && !self.chunked && !codings.is_empty() && codings.iter().all(known) {
            let cause = "only `chunked` is known of transfer codings";
            return Err(Failed::because(Kind::NotImplemented, cause));
        }
        Err(bad("`transfer-encoding` is not just `chunked`"))
    }

    fn end(&self, length: usize) -> Result<Head, Failed> {
        let body = match (self.chunked, self.length) {
            // Which of the two counts is what attacks are about (RFC 9112, section 6.1).
            (true, Some(_)) => return Err(bad("both `content-length` and `transfer-encoding`")),
            (true, None) => Body::Chunked,
            (false, Some(0) | None) => Body::None,
            (false, Some(length)) => Body::Length(length),
        };
        Ok(Head { length, body, upgrade: self.upgrade })
    }
}

/// `METHOD SP target SP HTTP/1.x` and nothing else (RFC 9112, section 3). Pingora would escape a target with white
/// space and go on.
fn request_line(line: &[u8], limits: &ClientLimits) -> Result<(), Failed> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad("the request line is not a method, a target and a version"));
    };
    if method.is_empty() || method.len() > MAX_METHOD || !method.iter().all(is_token) {
        return Err(bad("the method is no token"));
    }
    if method == b"CONNECT" {
        // Pingora would refuse it, too, without a line in the log.
        return Err(Failed::new(Kind::MethodNotAllowed));
    }
    if target.len() > limits.target_bytes {
        return Err(Failed::new(Kind::TargetTooLong));
    }
    if target.is_empty() || target.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
        return Err(bad("the target has a control character, or is empty"));
    }
    // A fragment is the client's own (RFC 9110, section 7.1): some would cut it off, some would not.
    if target.contains(&b'#') {
        return Err(bad("the target has a `#`"));
    }
    match version {
        b"HTTP/1.1" | b"HTTP/1.0" => Ok(()),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Err(Failed::new(Kind::VersionNotSupported))
        }
        _ => Err(bad("the version is none of HTTP")),
    }
}

/// What is no request is told by its first bytes, and not only when nothing more comes.
fn check_start(start: &[u8], limits: &ClientLimits) -> Result<(), Failed> {
    let method = start.split(|byte| *byte == b' ').next().unwrap_or_default();
    let method = method.strip_suffix(b"\r").filter(|rest| rest.is_empty()).unwrap_or(method);
    if !method.iter().all(is_token) || method.len() > MAX_METHOD {
        return Err(bad("the method is no token"));
    }
    if start.len() > limits.target_bytes + MAX_METHOD + 12 {
        return Err(Failed::new(Kind::TargetTooLong));
    }
    Ok(())
}

/// The longest method of the registry has 17 letters.
const MAX_METHOD: usize = 64;

/// RFC 9110, section 5.6.2.
fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn bad(cause: &str) -> Failed {
    Failed::because(Kind::BadRequest, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ClientLimits =
        ClientLimits { header_bytes: 400, header_lines: 4, target_bytes: 40, ..ClientLimits::DEFAULT };

    /// What is found, in one piece and byte by byte: the same.
    fn scan(text: &[u8]) -> Result<Option<Head>, Kind> {
        let whole = Scanner::default().advance(text, &LIMITS).map_err(|failed| failed.kind);
        let mut scanner = Scanner::default();
        let mut found = Ok(None);
        for end in 1..=text.len() {
            found = scanner.advance(&text[..end], &LIMITS).map_err(|failed| failed.kind);
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        assert_eq!(whole, found, "{}", text.escape_ascii());
        found
    }

    fn check(fields: &str, expected: Result<(Body, bool), Kind>) {
        let text = format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n");
        let found = scan(text.as_bytes()).map(|head| head.map(|head| (head.body, head.upgrade)));
        assert_eq!(found, expected.map(Some), "{fields}");
    }

    #[test]
    fn the_framing_of_a_message_has_one_reading() {
        check("Host: a", Ok((Body::None, false)));
        check("Content-Length: 5", Ok((Body::Length(5), false)));
        check("content-length:\t0 ", Ok((Body::None, false)));
        check("TRANSFER-ENCODING: Chunked", Ok((Body::Chunked, false)));
        check("Upgrade: websocket\r\nConnection: upgrade", Ok((Body::None, true)));
        check("Content-Lengths: x\r\nTransfer-Encodings: y", Ok((Body::None, false)));
        for lengths in
            ["+5", "05", "5, 5", "", "0x5", "5 5", "99999999999999999999", "5\r\nContent-Length: 5"]
        {
            check(&format!("Content-Length: {lengths}"), Err(Kind::BadRequest));
        }
        check("Content-Length: 5\r\nTransfer-Encoding: chunked", Err(Kind::BadRequest));
        check("Transfer-Encoding: gzip, chunked", Err(Kind::NotImplemented));
        for codings in
            ["x, chunked", "chunked, identity", "chunked, chunked", ",chunked", "\x0bchunked", "", "identity"]
        {
            check(&format!("Transfer-Encoding: {codings}"), Err(Kind::BadRequest));
        }
        check("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", Err(Kind::BadRequest));
        check("a: b\r\n c", Err(Kind::BadRequest));
        check("a: b\r\n\tc", Err(Kind::BadRequest));
    }

    #[test]
    fn request_lines_are_strict() {
        let check = |line: &str, expected: Option<Kind>| {
            let text = format!("{line}\r\n\r\n");
            assert_eq!(scan(text.as_bytes()).err(), expected, "{line}");
        };
        check("GET / HTTP/1.1", None);
        check("GET / HTTP/1.0", None);
        check("M-SEARCH * HTTP/1.1", None);
        check("GET /\u{e4} HTTP/1.1", None);
        check("\r\nGET / HTTP/1.1", None);
        check("GET / HTTP/2.0", Some(Kind::VersionNotSupported));
        check("GET / HTTP/1.2", Some(Kind::VersionNotSupported));
        check(&format!("{} / HTTP/1.1", "A".repeat(MAX_METHOD)), None);
        check(&format!("{} / HTTP/1.1", "A".repeat(MAX_METHOD + 1)), Some(Kind::BadRequest));
        let mut bad =
            vec!["GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET /a b HTTP/1.1", "GET /a\tb HTTP/1.1"];
        bad.extend([
            "GET /\x7f HTTP/1.1",
            "GET /\0 HTTP/1.1",
            "GET /\r HTTP/1.1",
            " GET / HTTP/1.1",
            "G(T / HTTP/1.1",
        ]);
        bad.extend(["GET / http/1.1", "GET / HTTP/11", "GET / HTTP/1.10", "\x16\x03\x01"]);
        for line in bad {
            check(line, Some(Kind::BadRequest));
        }
        assert_eq!(scan(b"GET / HTTP/1.1\nHost: a\r\n\r\n"), Err(Kind::BadRequest));
        assert_eq!(scan(b"GET / HTTP/1.1\r\nHost: a\n\n"), Err(Kind::BadRequest));
    }

    #[test]
    fn c39_what_is_too_long_is_told_by_its_part() {
        let target = |length: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(length));
        assert!(scan(target(39).as_bytes()).is_ok());
        assert_eq!(scan(target(40).as_bytes()), Err(Kind::TargetTooLong));
        assert_eq!(scan(format!("GET /{}", "a".repeat(500)).as_bytes()), Err(Kind::TargetTooLong));
        let lines = |count: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(count));
        assert!(scan(lines(4).as_bytes()).is_ok());
        assert_eq!(scan(lines(5).as_bytes()), Err(Kind::HeadersTooLarge));
        let long = format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(400));
        assert_eq!(scan(long.as_bytes()), Err(Kind::HeadersTooLarge));
        assert_eq!(scan(long.as_bytes().get(..420).unwrap()), Err(Kind::HeadersTooLarge));
    }

    #[test]
    fn a_head_ends_where_the_body_begins() {
        let text = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        let head = scan(text).unwrap().unwrap();
        assert_eq!(text.get(head.length..), Some(b"hello".as_slice()));
        assert_eq!(scan(b"GET / HTTP/1.1\r\nHost: a"), Ok(None));
        assert_eq!(scan(b""), Ok(None));
        let mut scanner = Scanner::default();
        assert_eq!(scanner.advance(b"\r\n", &LIMITS), Ok(None));
        assert!(scanner.is_blank());
    }
}
