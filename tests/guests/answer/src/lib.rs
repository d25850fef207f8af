//! Answers itself, as its configuration says: well or badly.

use edgewright_sdk::prelude::*;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: String,
    /// Answers with a body of this many bytes in place of `body`.
    #[serde(default)]
    body_bytes: usize,
    /// Answers only where the request has this header; always where it is not told.
    #[serde(default)]
    when: Option<String>,
    /// Where it answers.
    #[serde(default)]
    phase: Phase,
}

#[derive(serde::Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    #[default]
    Request,
    Response,
}

pub struct Answer {
    config: Config,
}

impl Answer {
    fn answer(&self, request: &Request, phase: Phase) -> Verdict {
        let config = &self.config;
        let wanted = config.when.as_deref().is_none_or(|name| request.header(name).is_some());
        if config.phase != phase || !wanted {
            return Verdict::Next;
        }
        let mut response = Response::new(config.status);
        for (name, value) in &config.headers {
            response = response.header(name.clone(), value.as_str());
        }
        if config.body_bytes > 0 {
            return response.body(vec![b'x'; config.body_bytes]).into();
        }
        response.body(config.body.as_bytes()).into()
    }
}

#[plugin]
impl Plugin for Answer {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        Ok(Self { config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        self.answer(request, Phase::Request)
    }

    fn on_response(&self, request: &Request, _: &mut ResponseHead) -> Verdict {
        self.answer(request, Phase::Response)
    }
}
