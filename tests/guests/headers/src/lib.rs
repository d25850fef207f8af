//! Looks at every header of both heads: lists the names, copies `X-Ok` to `X-Copy`, logs the user agent.

use edgewright_sdk::prelude::*;

pub struct Headers;

#[plugin]
impl Plugin for Headers {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let names: Vec<String> =
            request.headers().into_iter().map(|header| header.name.to_string()).collect();
        let _ = request.set_header("x-names", names.join(","));
        if let Some(ok) = request.header("x-ok") {
            let _ = request.set_header("x-copy", ok);
        }
        if let Some(cookie) = request.header("cookie") {
            let _ = request.set_header("x-cookie", cookie);
        }
        let _ = request.set_header("x-path", request.path());
        if let Some(agent) = request.header("user-agent") {
            log::warn!("user agent: {}", agent.to_str_lossy());
        }
        Verdict::Next
    }

    fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
        let names: Vec<String> =
            response.headers().into_iter().map(|header| header.name.to_string()).collect();
        let _ = response.set_header("x-names", names.join(","));
        if let Some(ok) = response.header("x-ok") {
            let _ = response.set_header("x-copy", ok);
        }
        Verdict::Next
    }
}
