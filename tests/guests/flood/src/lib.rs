//! Calls the host as often as `X-Calls` says, and writes as many lines to the log as `X-Lines` says.

use edgewright_sdk::prelude::*;

pub struct Flood;

#[plugin]
impl Plugin for Flood {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        for _ in 0..times(request, "x-calls") {
            let _ = std::hint::black_box(request.header("x-calls"));
        }
        for _ in 0..times(request, "x-lines") {
            log::warn!("a line of the flood");
        }
        let _ = request.set_header("x-seen", "1");
        Verdict::Next
    }
}

fn times(request: &Request, header: &str) -> u32 {
    request.header(header).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0)
}
