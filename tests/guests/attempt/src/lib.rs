//! Marks what each attempt sends. On `X-Answer: 1`, it answers in the upstream's place; on `X-Boom: attempt`, it
//! panics.

use edgewright_sdk::prelude::*;

pub struct Marker;

#[plugin]
impl Plugin for Marker {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_upstream_request(&self, request: &mut Request, attempt: &Attempt) -> Verdict {
        if request.header("x-boom").is_some_and(|value| value.as_bytes() == b"attempt") {
            panic!("boom at the attempt");
        }
        if request.header("x-answer").is_some() {
            return Response::new(418).body("in its place").into();
        }
        let mark = format!("{} {} {}", attempt.number, attempt.upstream, attempt.peer);
        // Appended: what an earlier attempt left behind would show.
        let _ = request.append_header("x-attempt", mark);
        let _ = request.set_authority(&format!("{}.peer.test", attempt.number));
        let _ = request.set_path(&format!("/attempt-{}{}", attempt.number, request.path()));
        let refused = request.set_method("DELETE").is_err() && request.set_upstream("main").is_err();
        let _ = request.set_attribute("attempt.refused", if refused { "yes" } else { "no" });
        Verdict::Next
    }
}
