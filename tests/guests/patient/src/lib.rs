//! Waits in a phase that can't wait: is refused at load.

use std::time::Duration;

use edgewright_sdk::prelude::*;

pub struct Patient;

#[plugin]
impl Plugin for Patient {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_response_body(&self, _: &Request, _: &mut ResponseHead, _: Chunk) -> BodyVerdict {
        std::thread::sleep(Duration::from_millis(1));
        BodyVerdict::Pass
    }
}
