//! Heads for the fuzz target `head`.

use crate::config::model::ClientLimits;

use super::head::{Body, Scanner};

/// What comes of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// It is not whole.
    Unfinished,
    /// With the word for the access log.
    Refused(&'static str),
    /// The bytes of it, and of the body behind it; `None` for chunks.
    Whole(usize, Option<u64>),
}

/// Reads a head that comes in pieces of that many bytes.
pub fn head(bytes: &[u8], piece: usize) -> Read {
    let limits =
        ClientLimits { header_bytes: 1024, header_lines: 16, target_bytes: 64, ..ClientLimits::DEFAULT };
    let mut scanner = Scanner::default();
    let piece = piece.max(1);
    let ends = (piece..bytes.len()).step_by(piece).chain([bytes.len()]);
    for end in ends {
        match scanner.advance(bytes.get(..end).unwrap_or_default(), &limits) {
            Ok(None) => {}
            Ok(Some(head)) => {
                let body = match head.body {
                    Body::None => Some(0),
                    Body::Length(length) => Some(length),
                    Body::Chunked => None,
                };
                return Read::Whole(head.length, body);
            }
            Err(failed) => return Read::Refused(failed.kind.word()),
        }
    }
    Read::Unfinished
}
