//! Takes memory until it is refused: `X-Grow: ask` asks politely and says how much it got, `X-Grow: take`
//! does not care and is ended by its allocator.

use edgewright_sdk::prelude::*;

const PIECE: usize = 256 * 1024;

pub struct Grow;

#[plugin]
impl Plugin for Grow {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let mut held: Vec<Vec<u8>> = Vec::new();
        match request.header("x-grow").as_ref().map(|value| value.as_bytes()) {
            Some(b"take") => loop {
                held.push(vec![1; PIECE]);
            },
            Some(_) => loop {
                let mut piece: Vec<u8> = Vec::new();
                if piece.try_reserve_exact(PIECE).is_err() {
                    break;
                }
                held.push(piece);
            },
            None => {}
        }
        let got = held.len() * PIECE / 1024;
        drop(held);
        let _ = request.set_header("x-got", got.to_string());
        Verdict::Next
    }
}
