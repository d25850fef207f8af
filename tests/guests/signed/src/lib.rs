//! Lets a request pass if `X-Signature` is the checksum of its method, raw target and body, and routes it by its
//! body: `to=NAME` at the start chooses the upstream. (A real plugin takes an HMAC; here the arithmetic is no matter.)

use edgewright_sdk::prelude::*;

pub struct Signed;

/// FNV-1a, 64 bits.
fn checksum(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().chain(b"\n"));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[plugin]
impl Plugin for Signed {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let Some(body) = request.body() else {
            return Response::new(500).body("the body is not buffered").into();
        };
        let expected = checksum(&[request.method().as_bytes(), &request.raw_target(), &body]);
        let told = request.header("x-signature");
        if told.is_none_or(|told| told.to_str_lossy() != format!("{expected:016x}")) {
            return Response::new(401).body("wrong signature").into();
        }
        if body.starts_with(b"to=blue") {
            let _ = request.set_upstream("blue");
        }
        Verdict::Next
    }
}
