//! Tries every edit that the host must refuse, and says in `X-Edits` what it was answered.

use edgewright_sdk::prelude::*;

/// Header lines that are not to be taken.
const HEADERS: [(&str, &[u8]); 16] = [
    ("connection", b"x-other"),
    ("content-length", b"5"),
    ("host", b"other.test"),
    ("keep-alive", b"timeout=5"),
    ("proxy-connection", b"close"),
    ("te", b"trailers"),
    ("trailer", b"x-end"),
    ("transfer-encoding", b"chunked"),
    ("upgrade", b"h2c"),
    (":path", b"/other"),
    ("", b"1"),
    ("x y", b"1"),
    ("x-line", b"1\r\nx-more: 2"),
    ("x-feed", b"1\n2"),
    ("x-nul", b"1\x00z"),
    ("x-bytes", b"\xa1\xb1"),
];

pub struct Edits;

fn told<E: std::fmt::Debug>(name: &str, result: Result<(), E>) -> String {
    match result {
        Ok(()) => format!("{name}=ok"),
        Err(error) => format!("{name}={error:?}"),
    }
}

#[plugin]
impl Plugin for Edits {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let mut results: Vec<String> =
            HEADERS.iter().map(|(name, value)| told(name, request.set_header(name, value))).collect();
        results.push(told("x-big", request.set_header("x-big", vec![b'x'; 16 * 1024 + 1])));
        results.push(told("set-path", request.set_path("no-slash")));
        results.push(told("set-path-query", request.set_path("/a?b")));
        results.push(told("set-query", request.set_query(Some("a b"))));
        results.push(told("set-method", request.set_method("GE T")));
        results.push(told("set-connect", request.set_method("CONNECT")));
        results.push(told("set-authority", request.set_authority("a b")));
        let _ = request.set_header("x-edits", results.join("; "));
        Verdict::Next
    }

    fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
        let mut results: Vec<String> = HEADERS
            .iter()
            .filter(|(name, _)| *name != "host")
            .map(|(name, value)| told(name, response.set_header(name, value)))
            .collect();
        results.push(told("status-99", response.set_status(99)));
        results.push(told("status-600", response.set_status(600)));
        let _ = response.set_header("x-edits", results.join("; "));
        Verdict::Next
    }
}
