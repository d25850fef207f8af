//! Bytes of clients in the access log: a line is one line, valid JSON or plain ASCII.

#![no_main]

use std::time::{Duration, SystemTime};

use edgewright::log_field::LogField;
use edgewright::observe::access_log::{Escaped, Format, Record, TextPiece};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &[u8], &[u8], &str)| {
    let (seconds, target, agent, cause) = input;
    let record = Record {
        time: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds % 253_402_300_800),
        request_id: None,
        client: None,
        method: None,
        host: Some(Escaped(target)),
        target: Some(Escaped(target)),
        protocol: None,
        status: 200,
        duration_us: seconds,
        request_bytes: 0,
        response_bytes: 0,
        user_agent: Some(Escaped(agent)),
        referer: Some(Escaped(agent)),
        route: None,
        upstream: None,
        peer: None,
        attempts: 0,
        decided_by: None,
        error: None,
        cause: Some(Escaped(cause.as_bytes())),
        plugins: Vec::new(),
        attributes: vec![("key", Escaped(agent))],
    };
    let fields = LogField::NAMES.map(|(_, field)| field);
    let text = fields.map(TextPiece::Field);
    for format in [Format::Json, Format::JsonFields(fields.into()), Format::Text(text.into())] {
        let line = format.line(&record).expect("a line");
        let (end, inside) = line.split_last().expect("a line");
        assert_eq!((*end, inside.contains(&b'\n')), (b'\n', false));
        if matches!(format, Format::Text(_)) {
            assert!(inside.iter().all(|byte| matches!(byte, b' '..=b'~')));
        } else {
            serde_json::from_slice::<serde_json::Value>(inside).expect("JSON");
        }
    }
});
