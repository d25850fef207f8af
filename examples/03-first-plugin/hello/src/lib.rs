//! A first plugin, to copy: answers `/hello` by itself, and marks every other request and every response.

use edgewright_sdk::prelude::*;

/// What a route, or the manifest, may say in `config`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    greeting: String,
}

struct Hello {
    config: Config,
}

#[plugin]
impl Plugin for Hello {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, String> {
        if config.greeting.is_empty() {
            return Err("`greeting` is empty: say something".into());
        }
        Ok(Self { config })
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        if request.path() == "/hello" {
            let greeting = format!("{}\n", self.config.greeting);
            return Response::new(200).header("content-type", "text/plain").body(greeting).into();
        }
        if let Err(refused) = request.set_header("x-hello", &self.config.greeting) {
            log::warn!("`x-hello` was not set: {refused}");
        }
        Verdict::Next
    }

    fn on_response(&self, _request: &Request, response: &mut ResponseHead) -> Verdict {
        if let Err(refused) = response.set_header("x-hello", &self.config.greeting) {
            log::warn!("`x-hello` was not set: {refused}");
        }
        Verdict::Next
    }
}

#[cfg(test)]
mod tests {
    use edgewright_sdk::testing::{self, Exchange};

    use super::*;

    #[test]
    fn it_greets_and_marks() {
        let hello: Hello = testing::configure(r#"{ "greeting": "hi" }"#).unwrap();
        let answered = Exchange::get("/hello").on_request(&hello);
        assert!(matches!(answered.verdict, Verdict::Respond(_)));
        let mut passed = Exchange::get("/other");
        assert_eq!(passed.on_request(&hello).verdict, Verdict::Next);
        assert_eq!(passed.request_header("x-hello").unwrap(), "hi");
        assert!(testing::configure::<Hello>(r#"{ "greeting": "" }"#).is_err());
    }
}
