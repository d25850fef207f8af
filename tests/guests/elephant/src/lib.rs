//! Puts a word in the place of `cat` in the bodies of responses. `X-Body` asks for something else: `boom` (a panic),
//! `late` (a panic at the end), `page` (another response), `head` (changes the head). Counts its calls in an
//! attribute.

use edgewright_sdk::prelude::*;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    word: String,
}

pub struct Elephant {
    config: Config,
}

#[plugin]
impl Plugin for Elephant {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        Ok(Self { config })
    }

    fn on_response_body(&self, request: &Request, response: &mut ResponseHead, chunk: Chunk) -> BodyVerdict {
        let calls = request.attribute("elephant.calls").map_or(0, |calls| calls.len());
        let _ = request.set_attribute("elephant.calls", vec![b'i'; calls.saturating_add(1).min(64)]);
        match request.header("x-body").as_deref() {
            Some(b"boom") => panic!("boom in the body"),
            Some(b"late") if chunk.last => panic!("boom at the end of the body"),
            Some(b"page") => return Response::new(418).header("x-page", "1").body("another").into(),
            Some(b"head") => {
                let set = response.set_status(203).is_ok()
                    && response.set_header("x-length", chunk.data.len().to_string()).is_ok();
                let _ = request.set_attribute("elephant.head", if set { "set" } else { "gone" });
            }
            _ => {}
        }
        let Ok(text) = chunk.data.to_str() else { return BodyVerdict::Pass };
        if text.contains("cat") {
            BodyVerdict::replace(text.replace("cat", &self.config.word))
        } else {
            BodyVerdict::Pass
        }
    }
}
