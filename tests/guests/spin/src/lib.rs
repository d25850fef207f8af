//! Never returns on `X-Loop: 1`.

use edgewright_sdk::prelude::*;

pub struct Spin;

#[plugin]
impl Plugin for Spin {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        if request.header("x-loop").is_some() {
            loop {
                std::hint::spin_loop();
            }
        }
        let _ = request.set_header("x-seen", "1");
        Verdict::Next
    }
}
