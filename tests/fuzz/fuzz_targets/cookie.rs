//! Cookies of clients: a value is a part of a line, without what separates cookies, and is found by its name alone.

#![no_main]

use edgewright::cookie;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<&[u8]>, &[u8])| {
    let (lines, name) = input;
    let Some(value) = cookie::value(lines.iter().copied(), name) else { return };
    assert!(!value.contains(&b';'));
    assert!(![value.first(), value.last()].into_iter().flatten().any(|byte| matches!(byte, b' ' | b'\t')));
    let holds = |line: &&[u8]| value.is_empty() || line.windows(value.len()).any(|part| part == value);
    assert!(lines.iter().any(holds), "not of the client");
});
