//! Heads and chunked bodies of clients: pieces change nothing, and a head ends where the parser behind it has its end.

#![no_main]

use edgewright::proxy::fuzzing::{self, Read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let piece = usize::from(piece % 32) + 1;
    let read = fuzzing::head(bytes, piece);
    let whole = fuzzing::head(bytes, bytes.len());
    let Read::Whole(length, body) = read else {
        // What is refused may be so for another of its mistakes.
        assert!(!matches!(whole, Read::Whole(..)), "in pieces of {piece}: {read:?}, and else {whole:?}");
        return;
    };
    assert_eq!(whole, read, "in pieces of {piece}");
    let mut fields = [httparse::EMPTY_HEADER; 64];
    if let Ok(parsed) = httparse::Request::new(&mut fields).parse(bytes) {
        assert_eq!(parsed, httparse::Status::Complete(length));
    }
    if body.is_none() {
        let rest = bytes.get(length..).expect("within what was read");
        assert_eq!(fuzzing::end_of_chunks(rest, piece), fuzzing::end_of_chunks(rest, rest.len()));
    }
});
