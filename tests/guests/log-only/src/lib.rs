//! Has the log phase alone: writes what it was told of the finished request.

use edgewright_sdk::prelude::*;

pub struct LogOnly;

#[plugin]
impl Plugin for LogOnly {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_log(&self, request: &Request, response: &ResponseHead, entry: &Entry) {
        log::warn!(
            "log-only: path={} status={} sent={} upstream={} decided-by={} bytes={} timed={}",
            request.path(),
            entry.status,
            response.status(),
            entry.upstream.as_deref().unwrap_or("-"),
            entry.decided_by.as_deref().unwrap_or("-"),
            entry.response_bytes,
            entry.duration_us > 0,
        );
    }
}
