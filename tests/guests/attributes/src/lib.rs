//! Keeps attributes in the request phase and reads them in the response phase: what lasts is the host's.

use edgewright_sdk::prelude::*;

pub struct Attributes;

#[plugin]
impl Plugin for Attributes {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let before = request.attribute("attributes.user").is_some();
        let user = request.header("x-user").map(|value| value.as_bytes().to_vec()).unwrap_or_default();
        let tries = [
            request.set_attribute("attributes.user", &user).is_ok(),
            request.set_attribute("", "1").is_err(),
            request.set_attribute("Upper", "1").is_err(),
            request.set_attribute("a".repeat(65).as_str(), "1").is_err(),
            request.set_attribute("attributes.big", vec![0; 8 * 1024 + 1]).is_err(),
            !before,
        ];
        let _ = request.set_header("x-tries", format!("{tries:?}"));
        Verdict::Next
    }

    fn on_response(&self, request: &Request, response: &mut ResponseHead) -> Verdict {
        let user = request.attribute("attributes.user").unwrap_or_default();
        let _ = response.set_header("x-attribute", user);
        Verdict::Next
    }
}
