//! Paths that a route changes: what comes out is normal, and stays behind the prefix that was put in front.

#![no_main]

use edgewright::proxy::fuzzing;
use edgewright::target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| {
    let Ok(asked) = target::normalize(raw) else { return };
    for (edited, prefix) in fuzzing::edited_paths(&asked) {
        let normal = target::normalize(edited.as_bytes()).expect("a normal path");
        assert_eq!(normal, edited);
        assert!(edited == prefix || edited.starts_with(&format!("{prefix}/")), "{asked} became {edited}");
    }
});
