//! Does what the path says with `kv`: `/get/KEY`, `/set/KEY/VALUE/TTL-MS`, `/delete/KEY`, `/cas/KEY/OLD/NEW`,
//! `/add/KEY/BY`. Answers with the outcome.

use std::time::Duration;

use edgewright_sdk::kv;
use edgewright_sdk::prelude::*;

pub struct Kv;

#[plugin]
impl Plugin for Kv {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let path = request.path();
        let words: Vec<&str> = path.split('/').skip(1).collect();
        let text = match words.as_slice() {
            ["get", key] => kv::get(key).map_or("none".to_owned(), |value| value.to_str_lossy().into_owned()),
            ["set", key, value] => format!("{:?}", kv::set(key, value, None)),
            ["set", key, value, ttl] => {
                format!("{:?}", kv::set(key, value, ttl.parse().ok().map(Duration::from_millis)))
            }
            ["fill", key, size] => {
                let size = size.parse().unwrap_or(0);
                format!("{:?}", kv::set(key, vec![b'x'; size], None))
            }
            ["delete", key] => kv::delete(key).to_string(),
            ["cas", key, old, new] => {
                let old = (*old != "-").then_some(old.as_bytes());
                format!("{:?}", kv::compare_and_set(key, old, new, None))
            }
            ["add", key, by] => format!("{:?}", kv::increment(key, by.parse().unwrap_or(0), None)),
            _ => return Verdict::Next,
        };
        Response::new(200).body(text).into()
    }
}
