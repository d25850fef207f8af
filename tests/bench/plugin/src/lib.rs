//! The guest of the bench: the job of the script in Lua. Refuses requests without the key, sets a header
//! on the request and one on the response.

use edgewright_sdk::prelude::*;

/// Which key, and the names of the headers: a chain holds this plugin several times.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Config {
    key: String,
    request_header: String,
    response_header: String,
}

struct Header {
    config: Config,
}

#[plugin]
impl Plugin for Header {
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

    fn on_response(&self, _request: &Request, response: &mut ResponseHead) -> Verdict {
        match response.set_header(&self.config.response_header, "bench") {
            Ok(()) => Verdict::Next,
            Err(_) => Response::new(500).into(),
        }
    }
}
