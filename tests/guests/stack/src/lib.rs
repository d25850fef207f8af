//! Calls itself until the stack is used up, on `X-Deep: 1`.

use edgewright_sdk::prelude::*;

pub struct Stack;

/// Never ends for a positive number; not a loop in disguise, as each call's result is used after the next.
fn deeper(depth: u64) -> u64 {
    if std::hint::black_box(depth) == 0 {
        return 0;
    }
    let mut frame = [depth; 16];
    let below = deeper(std::hint::black_box(depth + 1));
    std::hint::black_box(&mut frame);
    below.wrapping_add(frame.iter().sum::<u64>())
}

#[plugin]
impl Plugin for Stack {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let depth = if request.header("x-deep").is_some() { deeper(1) } else { deeper(0) };
        let _ = request.set_header("x-seen", depth.to_string());
        Verdict::Next
    }
}
