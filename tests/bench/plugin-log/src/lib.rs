//! A guest that is not on the path of a request: what it adds is one empty call at the end, and nothing
//! for the phases it does not export.

use edgewright_sdk::prelude::*;

#[derive(serde::Deserialize)]
struct Config {}

struct LogOnly;

#[plugin]
impl Plugin for LogOnly {
    type Config = Config;

    fn configure(_config: Config) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_log(&self, _request: &Request, _response: &ResponseHead, _entry: &Entry) {}
}
