//! Sends a request on with the method that `X-Method` names.

use edgewright_sdk::prelude::*;

pub struct Method;

#[plugin]
impl Plugin for Method {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let Some(method) = request.header("x-method") else { return Verdict::Next };
        let result = request.set_method(method.to_str().unwrap_or_default());
        let _ = request.set_header("x-method-result", format!("{result:?}"));
        Verdict::Next
    }
}
