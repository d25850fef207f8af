//! Panics on `X-Boom: 1`, with a message of 64 KiB on `X-Boom: long`; else says that it has seen the request.
//! On `X-Boom: response`, it panics in the response phase.

use edgewright_sdk::prelude::*;

pub struct Trap;

#[plugin]
impl Plugin for Trap {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        match request.header("x-boom").as_ref().map(|value| value.as_bytes()) {
            Some(b"1") => light_the_fuse("boom"),
            Some(b"long") => light_the_fuse(&"boom ".repeat(64 * 1024 / 5)),
            _ => {}
        }
        let _ = request.set_header("x-seen", "1");
        Verdict::Next
    }

    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        if request.header("x-boom").is_some_and(|value| value.as_bytes() == b"response") {
            panic!("boom in the response");
        }
        let _ = response.set_header("x-seen", "1");
        Verdict::Next
    }
}

/// A function of its own, to be seen in a backtrace.
#[inline(never)]
fn light_the_fuse(message: &str) {
    panic!("{message}");
}
