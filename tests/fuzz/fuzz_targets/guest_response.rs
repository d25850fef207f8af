//! Responses that guests make: what is taken is fit to be sent.

#![no_main]

use edgewright::plugin::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|made: (u16, Vec<(String, Vec<u8>)>, Vec<u8>)| {
    let (status, headers, body) = made;
    let Ok(response) = fuzzing::response(status, headers, body) else { return };
    assert!((200..=599).contains(&response.status.as_u16()));
    for (name, value) in &response.headers {
        assert!(!["content-length", "transfer-encoding", "connection", "host"].contains(&name.as_str()));
        assert!(value.as_bytes().iter().all(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
    }
});
