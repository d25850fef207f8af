//! Calls the host as often as `X-Calls` says.

use edgewright_sdk::prelude::*;

pub struct Flood;

#[plugin]
impl Plugin for Flood {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let calls = request.header("x-calls");
        let calls: u32 = calls.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
        for _ in 0..calls {
            let _ = std::hint::black_box(request.header("x-calls"));
        }
        let _ = request.set_header("x-seen", "1");
        Verdict::Next
    }
}
