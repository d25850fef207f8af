//! Deals with failures as the request says: `X-Rescue: retry` asks for another peer, `X-Rescue: page` makes the
//! error page, `X-Rescue: boom` panics.

use edgewright_sdk::prelude::*;

pub struct Rescue;

#[plugin]
impl Plugin for Rescue {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_error(&self, request: &Request, failure: &Failure) -> ErrorVerdict {
        let told = format!(
            "{} {} attempts={} upstream={} peer={} retry={}",
            failure.error,
            failure.status,
            failure.attempts,
            failure.upstream.as_deref().unwrap_or("-"),
            failure.peer.as_deref().unwrap_or("-"),
            failure.can_retry,
        );
        let before = request.attribute("rescue.told").unwrap_or_default();
        let before = before.to_str_lossy();
        let all = if before.is_empty() { told } else { format!("{before}; {told}") };
        let _ = request.set_attribute("rescue.told", &all);
        match request.header("x-rescue").as_deref() {
            Some(b"retry") => ErrorVerdict::Retry,
            Some(b"page") => {
                Response::new(failure.status).header("content-type", "text/plain").body(all).into()
            }
            Some(b"boom") => panic!("boom in the error phase"),
            _ => ErrorVerdict::Next,
        }
    }
}
