//! Calls itself until the stack is used up, on `X-Deep: 1`.

use edgewright_sdk::prelude::*;

pub struct Stack;

/// Comes to an end for 0 alone. No loop in disguise: what is done with the answer of the call below can't be
/// done ahead of it. Nothing has an address, so it is the host's stack that runs out and not the guest's own
/// in its memory.
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    if depth == 0 {
        return 0;
    }
    deeper(depth + 1).rotate_left(7) ^ depth
}

#[plugin]
impl Plugin for Stack {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let depth = deeper(u64::from(request.header("x-deep").is_some()));
        let _ = request.set_header("x-seen", depth.to_string());
        Verdict::Next
    }
}
