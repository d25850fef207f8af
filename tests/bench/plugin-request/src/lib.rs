//! The guest of the bench with its request phase alone: next to the whole one, it shows what the response
//! phase costs a plugin that has one.

use edgewright_sdk::prelude::*;

/// As the whole guest's, whose configuration it is given.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Config {
    key: String,
    request_header: String,
}

struct RequestOnly {
    config: Config,
}

#[plugin]
impl Plugin for RequestOnly {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        Ok(Self { config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let key = request.header("x-api-key");
        if key.is_none_or(|key| key.as_bytes() != self.config.key.as_bytes()) {
            return Response::new(401).into();
        }
        match request.set_header(&self.config.request_header, "bench") {
            Ok(()) => Verdict::Next,
            Err(_) => Response::new(500).into(),
        }
    }
}
