//! Calls the URL of the header `x-call` as often as `x-times` says (once), with the time of `x-timeout` in
//! milliseconds, and answers with the last outcome. A line in `x-send` is sent along as `x-sent`.

use std::time::Duration;

use edgewright_sdk::http_client::Call;
use edgewright_sdk::prelude::*;

pub struct HttpClient;

#[plugin]
impl Plugin for HttpClient {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let text = |name| request.header(name).and_then(|value| value.to_str().ok().map(str::to_owned));
        let Some(url) = text("x-call") else { return Verdict::Next };
        let mut call = Call::new(&request.method(), &url);
        if let Some(sent) = request.header("x-send") {
            // The word for a line break, which no header can carry.
            let sent = sent.to_str_lossy().replace("CRLF", "\r\n");
            call = call.header("x-sent", sent);
        }
        if let Some(millis) = text("x-timeout").and_then(|millis| millis.parse().ok()) {
            call = call.timeout(Duration::from_millis(millis));
        }
        let times: usize = text("x-times").and_then(|times| times.parse().ok()).unwrap_or(1);
        let mut outcome = call.send();
        for _ in 1..times {
            outcome = call.send();
        }
        match outcome {
            Ok(answer) => {
                let mut response = Response::new(200).header("x-status", answer.status().to_string());
                if let Some(location) = answer.first("location") {
                    response = response.header("x-location", location.clone());
                }
                response.body(answer.body_bytes().to_vec()).into()
            }
            Err(error) => Response::new(502).body(format!("{error:?}")).into(),
        }
    }
}
