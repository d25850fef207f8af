//! How much of a client's stream belongs to the current request: Pingora is given that and no more, so that what
//! follows is looked over as a request of its own. Does no I/O.

use crate::proxy::http1::Body;

/// Lines of chunk sizes with their extensions, and trailers, of one body: in bytes.
const MAX_OVERHEAD_LINE: usize = 8 * 1024;

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Everything passes: HTTP/2, and tunnels behind a 101.
    Open,
    /// So many bytes of the body are to come.
    Length(u64),
    Chunked(Chunks),
    /// The request is whole: what comes now is the next one.
    Shut,
}

/// Within a chunked body (RFC 9112, section 7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunks {
    place: Place,
    /// Bytes of the line so far, or of trailers.
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the digits of a size.
    Size(u64),
    /// Behind the digits, before the end of the line.
    Extension(u64),
    /// The line feed of a size line is due.
    SizeEnd(u64),
    Data(u64),
    /// `\r`, then `\n` behind the data.
    DataEnd,
    DataLineFeed,
    /// At the start of a line behind the last chunk.
    TrailerStart,
    Trailer,
    TrailerLineFeed,
    /// The line feed of the empty line that ends it all.
    LastLineFeed,
}

/// A chunked body that recipients would read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a chunk is not framed as it should be")]
pub(crate) struct BadChunk;

impl Gate {
    /// The gate of a request's body.
    pub(crate) fn of(body: Body) -> Self {
        match body {
            Body::None => Self::Shut,
            Body::Length(length) => Self::Length(length),
            Body::Chunked => Self::Chunked(Chunks { place: Place::Size(0), line: 0 }),
        }
    }

    /// Takes note of bytes that came. Returns how many of them belong to the request.
    ///
    /// # Errors
    /// They are no chunks.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Result<usize, BadChunk> {
        match self {
            Self::Open => Ok(bytes.len()),
            Self::Shut => Ok(0),
            Self::Length(left) => {
                let own = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= own as u64;
                if *left == 0 {
                    *self = Self::Shut;
                }
                Ok(own)
            }
            Self::Chunked(chunks) => match chunks.pass(bytes)? {
                Some(end) => {
                    *self = Self::Shut;
                    Ok(end)
                }
                None => Ok(bytes.len()),
            },
        }
    }
}

impl Chunks {
    /// The number of bytes up to the end of the body, if it is in there.
    fn pass(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadChunk> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if let Place::Data(left) = self.place {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                at += here;
                let left = left - here as u64;
                self.place = if left == 0 { Place::DataEnd } else { Place::Data(left) };
                continue;
            }
            at += 1;
            self.line += 1;
            if self.line > MAX_OVERHEAD_LINE {
                return Err(BadChunk);
            }
            match self.step(byte)? {
                Some(place) => self.place = place,
                None => return Ok(Some(at)),
            }
        }
        Ok(None)
    }

    /// One byte of framing. `None`: it was the last.
    fn step(&mut self, byte: u8) -> Result<Option<Place>, BadChunk> {
        Ok(Some(match (self.place, byte) {
            (Place::Size(size), digit) if digit.is_ascii_hexdigit() => {
                // Sixteen digits are 64 bits.
                if self.line > 16 {
                    return Err(BadChunk);
                }
                let value = (digit as char).to_digit(16).ok_or(BadChunk)?;
                Place::Size(size << 4 | u64::from(value))
            }
            (Place::Size(_), _) if self.line == 1 => return Err(BadChunk),
            (Place::Size(size), b';') => Place::Extension(size),
            (Place::Size(size) | Place::Extension(size), b'\r') => Place::SizeEnd(size),
            (Place::Extension(size), byte) if is_text(byte) => Place::Extension(size),
            (Place::SizeEnd(size), b'\n') => {
                self.line = 0;
                if size == 0 { Place::TrailerStart } else { Place::Data(size) }
            }
            (Place::DataEnd, b'\r') => Place::DataLineFeed,
            (Place::DataLineFeed, b'\n') => {
                self.line = 0;
                Place::Size(0)
            }
            (Place::TrailerStart, b'\r') => Place::LastLineFeed,
            (Place::LastLineFeed, b'\n') => return Ok(None),
            (Place::Trailer, b'\r') => Place::TrailerLineFeed,
            (Place::TrailerLineFeed, b'\n') => Place::TrailerStart,
            // The first byte of a name: folded lines are no more, in trailers neither.
            (Place::TrailerStart, byte) if byte.is_ascii_graphic() && byte != b':' => Place::Trailer,
            (Place::Trailer, byte) if is_text(byte) => Place::Trailer,
            _ => return Err(BadChunk),
        }))
    }
}

/// What a line may hold but its end (RFC 9110, section 5.5).
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a chunked body ends, in one piece and byte by byte.
    fn end(bytes: &[u8]) -> Result<Option<usize>, BadChunk> {
        let mut gate = Gate::of(Body::Chunked);
        let whole = gate.pass(bytes).map(|passed| (gate == Gate::Shut).then_some(passed));
        let mut gate = Gate::of(Body::Chunked);
        let mut count = 0;
        let mut slow = Ok(None);
        for byte in bytes {
            match gate.pass(&[*byte]) {
                Ok(passed) => count += passed,
                Err(bad) => {
                    slow = Err(bad);
                    break;
                }
            }
            if gate == Gate::Shut {
                slow = Ok(Some(count));
                break;
            }
        }
        assert_eq!(whole, slow, "{}", bytes.escape_ascii());
        whole
    }

    #[test]
    fn chunks_end_where_they_say() {
        let check = |body: &str, expected: Option<usize>| {
            assert_eq!(end(body.as_bytes()), Ok(expected), "{body}");
        };
        check("0\r\n\r\n", Some(5));
        check("0\r\n\r\nGET /", Some(5));
        check("3\r\nabc\r\n0\r\n\r\n", Some(13));
        check("A;x=y\r\n0123456789\r\n00\r\nX: 1\r\n\r\nrest", Some(31));
        check("3\r\nabc\r\n", None);
        check("3\r\nab", None);
        check("0\r\nX: 1\r\n", None);
    }

    #[test]
    fn c11_what_is_no_chunk_is_refused() {
        let sizes = ["0_5", "0x5", "+5", "-5", "5 ", " 5", "", "g", "11111111111111111", "5\n", "5;\0"];
        for size in sizes {
            let body = format!("{size}\r\nhello\r\n0\r\n\r\n");
            assert_eq!(end(body.as_bytes()), Err(BadChunk), "{size}");
        }
        for byte in (0..=0xff).filter(|byte| !is_text(*byte) && *byte != b'\r') {
            for line in ["X: ", "X", ""] {
                let body = [b"0\r\n", line.as_bytes(), &[byte], b"y\r\n\r\n"].concat();
                assert_eq!(end(&body), Err(BadChunk), "{}", body.escape_ascii());
            }
        }
        for line in [" X: 1", "\tX: 1", ": 1"] {
            assert_eq!(end(format!("0\r\n{line}\r\n\r\n").as_bytes()), Err(BadChunk), "{line:?}");
        }
        for body in ["5\r\nhelloXX\r\n", "5\nhello\r\n", "0\r\nX: 1\n\r\n", "0\r\n\n"] {
            assert_eq!(end(body.as_bytes()), Err(BadChunk), "{body:?}");
        }
        assert_eq!(end(format!("5;{}", "x".repeat(MAX_OVERHEAD_LINE)).as_bytes()), Err(BadChunk));
    }

    #[test]
    fn a_length_is_counted_down() {
        let mut gate = Gate::of(Body::Length(5));
        assert_eq!(gate.pass(b"abc"), Ok(3));
        assert_eq!(gate, Gate::Length(2));
        assert_eq!(gate.pass(b"deGET /"), Ok(2));
        assert_eq!(gate, Gate::Shut);
        assert_eq!(gate.pass(b"GET /"), Ok(0));
    }
}
