//! Panics on `X-Boom: 1`; else says that it has seen the request. On `X-Boom: response`, it panics in the
//! response phase.

use edgewright_sdk::prelude::*;

pub struct Trap;

#[plugin]
impl Plugin for Trap {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        if request.header("x-boom").is_some_and(|value| value.as_bytes() == b"1") {
            panic!("boom");
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
