//! Leaves its mark on both heads, by the name it is given: shows that and in which order plugins ran.

use edgewright_sdk::prelude::*;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    name: String,
}

pub struct Mark {
    name: String,
}

#[plugin]
impl Plugin for Mark {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        Ok(Self { name: config.name })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let _ = request.append_header("x-mark", &self.name);
        Verdict::Next
    }

    fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
        let _ = response.append_header("x-mark", &self.name);
        let _ = response.set_header("x-status-seen", response.status().to_string());
        Verdict::Next
    }
}
