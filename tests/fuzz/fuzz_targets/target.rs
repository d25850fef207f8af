//! Request targets of clients: whatever is taken is in its normal form, and the types that carry it on take it.

#![no_main]

use edgewright::target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| {
    let _ = target::authority(raw);
    let Ok(parsed) = target::parse(raw) else { return };
    if parsed.path == "*" {
        return;
    }
    let again = target::normalize(parsed.path.as_bytes()).expect("a normal path is taken");
    assert_eq!(again, parsed.path, "twice is once");
    assert!(parsed.path.starts_with('/') && !parsed.path.contains("//"));
    assert!(parsed.path.split('/').all(|segment| !matches!(segment, "." | "..")));
    let text = match &parsed.query {
        Some(query) => format!("{}?{query}", parsed.path),
        None => parsed.path.to_string(),
    };
    let made = http::uri::PathAndQuery::try_from(text.as_str()).expect("a target");
    assert_eq!(made.as_str(), text);
});
