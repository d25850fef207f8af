//! Shouts: upper case, and `!` at the end. `X-Body` asks for something else: `empty` (nothing goes on), `refuse`
//! (422), `boom` (a panic), `late` (a panic at the end), `spin` (no end). Counts its calls in an attribute.

use edgewright_sdk::prelude::*;

pub struct Shout;

#[plugin]
impl Plugin for Shout {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request_body(&self, request: &Request, chunk: Chunk) -> BodyVerdict {
        let calls = request.attribute("shout.calls").map_or(0, |calls| calls.len());
        let _ = request.set_attribute("shout.calls", vec![b'i'; calls.saturating_add(1)]);
        let _ = request.set_attribute(
            "shout.body",
            request.body().map_or_else(|| "none".into(), |b| b.len().to_string()),
        );
        match request.header("x-body").as_deref() {
            Some(b"empty") => return BodyVerdict::replace(""),
            Some(b"refuse") => return Response::new(422).body("not this body").into(),
            Some(b"boom") => panic!("boom in the body"),
            Some(b"late") if chunk.last => panic!("boom at the end of the body"),
            Some(b"spin") => loop {
                std::hint::black_box(calls);
            },
            _ => {}
        }
        let mut text = chunk.data.to_ascii_uppercase();
        if chunk.last {
            text.push(b'!');
        }
        BodyVerdict::replace(text)
    }
}
