//! Gives the response to a request with `X-Status` that status.

use edgewright_sdk::prelude::*;

pub struct Status;

#[plugin]
impl Plugin for Status {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        let wanted = request.header("x-status").and_then(|value| value.to_str().ok()?.parse().ok());
        if let Some(status) = wanted {
            let result = response.set_status(status);
            let _ = response.set_header("x-status-result", format!("{result:?}"));
        }
        Verdict::Next
    }
}
