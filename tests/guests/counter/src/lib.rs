//! Counts each request under its path: 10 an hour, sliding where the header `x-window` says so. Answers with how
//! the path stands.

use std::time::Duration;

use edgewright_sdk::counter::{self, Rule};
use edgewright_sdk::prelude::*;

const HOUR: Duration = Duration::from_secs(3_600);

pub struct Counter;

#[plugin]
impl Plugin for Counter {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let rule = match request.header("x-window") {
            Some(window) if window == "sliding" => Rule::sliding(10, HOUR),
            _ => Rule::fixed(10, HOUR),
        };
        match counter::take(&request.path(), 1, rule) {
            Ok(standing) => {
                let status = if standing.allowed { 200 } else { 429 };
                Response::new(status).header("x-remaining", standing.remaining.to_string()).into()
            }
            Err(refused) => Response::new(507).body(refused.to_string()).into(),
        }
    }
}
