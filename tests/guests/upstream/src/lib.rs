//! Sends a request to the upstream that `X-Upstream` names, and says in `X-Upstream-Result` how that went. Sets the
//! key that `X-Hash-Key` is, or one of `X-Hash-Key-Bytes` bytes, and says so in `X-Hash-Key-Result`.

use edgewright_sdk::prelude::*;

pub struct Upstream;

#[plugin]
impl Plugin for Upstream {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let long = request.header("x-hash-key-bytes").and_then(|count| count.to_str().ok()?.parse().ok());
        let long = long.map(|count: usize| vec![b'k'; count].into());
        if let Some(key) = long.or_else(|| request.header("x-hash-key")) {
            let result = request.set_hash_key(key);
            let _ = request.set_header("x-hash-key-result", format!("{result:?}"));
        }
        let Some(name) = request.header("x-upstream") else { return Verdict::Next };
        let result = request.set_upstream(name.to_str().unwrap_or_default());
        let _ = request.set_header("x-upstream-result", format!("{result:?}"));
        Verdict::Next
    }
}
