//! Sends a request to the upstream that `X-Upstream` names, and says in `X-Upstream-Result` how that went.

use edgewright_sdk::prelude::*;

pub struct Upstream;

#[plugin]
impl Plugin for Upstream {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let Some(name) = request.header("x-upstream") else { return Verdict::Next };
        let result = request.set_upstream(name.to_str().unwrap_or_default());
        let _ = request.set_header("x-upstream-result", format!("{result:?}"));
        Verdict::Next
    }
}
