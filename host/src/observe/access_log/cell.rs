//! One field of a line: found in a record, and written as JSON or as text that is always one line of plain ASCII.

use std::fmt;
use std::io::{self, Write};
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::log_field::LogField;

use super::record::{Attributes, Calls, Rfc3339};
use super::{Escaped, Record};

/// A value that is known.
pub(super) enum Cell<'a> {
    Text(&'a str),
    Bytes(Escaped<'a>),
    Number(u64),
    /// An address, or a time: nothing in it has to be escaped.
    Shown(Box<dyn fmt::Display + 'a>),
    Calls(Calls<'a>),
    Attributes(Attributes<'a>),
}

impl<'a> Cell<'a> {
    /// `None`: the field is not known of this request.
    pub(super) fn of(record: &'a Record<'a>, field: LogField) -> Option<Self> {
        let shown = |value: &'a dyn fmt::Display| Cell::Shown(Box::new(value));
        Some(match field {
            LogField::Attempts => Cell::Number(record.attempts as u64),
            LogField::Attributes if record.attributes.is_empty() => return None,
            LogField::Attributes => Cell::Attributes(Attributes(&record.attributes)),
            LogField::Cause => Cell::Bytes(record.cause?),
            LogField::Client => shown(record.client.as_ref()?),
            LogField::DecidedBy => Cell::Text(record.decided_by?),
            LogField::DurationUs => Cell::Number(record.duration_us),
            LogField::Error => Cell::Text(record.error?),
            LogField::Host => Cell::Bytes(record.host?),
            LogField::Method => Cell::Text(record.method?),
            LogField::Peer => Cell::Shown(Box::new(record.peer?)),
            LogField::Plugins if record.plugins.is_empty() => return None,
            LogField::Plugins => Cell::Calls(Calls(&record.plugins)),
            LogField::Protocol => Cell::Text(record.protocol?),
            LogField::Referer => Cell::Bytes(record.referer?),
            LogField::RequestBytes => Cell::Number(record.request_bytes),
            LogField::RequestId => Cell::Text(record.request_id?),
            LogField::ResponseBytes => Cell::Number(record.response_bytes),
            LogField::Route => Cell::Text(record.route?),
            LogField::Status => Cell::Number(record.status.into()),
            LogField::Target => Cell::Bytes(record.target?),
            LogField::Time => Cell::Shown(Box::new(Rfc3339(record.time))),
            LogField::TimeCommon => Cell::Shown(Box::new(Common(record.time))),
            LogField::Upstream => Cell::Text(record.upstream?),
            LogField::UserAgent => Cell::Bytes(record.user_agent?),
        })
    }

    /// Writes text in which no byte of a client's ends a line or a quoted field, or is anything but visible ASCII
    /// and spaces.
    pub(super) fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Cell::Text(text) => push_plain(text.as_bytes(), out),
            Cell::Bytes(bytes) => push_plain(bytes.to_string().as_bytes(), out),
            Cell::Number(number) => write!(out, "{number}")?,
            Cell::Shown(value) => write!(out, "{value}")?,
            Cell::Calls(calls) => write!(out, "{calls}")?,
            Cell::Attributes(attributes) => push_plain(attributes.to_string().as_bytes(), out),
        }
        Ok(())
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Bytes(bytes) => bytes.serialize(serializer),
            Cell::Number(number) => serializer.serialize_u64(*number),
            Cell::Shown(value) => serializer.collect_str(value),
            Cell::Calls(calls) => calls.0.serialize(serializer),
            Cell::Attributes(attributes) => attributes.serialize(serializer),
        }
    }
}

/// As nginx does: quotes, backslashes and all that is not visible become `\xNN`. A value that is empty is `-`.
fn push_plain(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    if bytes.is_empty() {
        out.push(b'-');
    }
    for byte in bytes {
        match byte {
            b' '..=b'~' if !matches!(byte, b'"' | b'\\') => out.push(*byte),
            other => out.extend([b'\\', b'x', digit(other >> 4), digit(other & 0xf)]),
        }
    }
}

/// `30/Nov/2026:20:19:00 +0000`
struct Common(SystemTime);

impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        // `2026-11-30T20:19:00Z`
        let text = humantime::format_rfc3339_seconds(self.0).to_string();
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
        let month = part(5..7).parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
        let month = month.copied().unwrap_or_default();
        write!(f, "{}/{month}/{}:{} +0000", part(8..10), part(0..4), part(11..19))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn text_is_one_line_of_visible_characters() {
        let check = |bytes: &[u8], expected: &str| {
            let mut out = Vec::new();
            push_plain(bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check(b"plain text", "plain text");
        check(b"", "-");
        check(b"a\"b\\c", "a\\x22b\\x5Cc");
        check(b"a\r\nb\x1b[2J\0", "a\\x0D\\x0Ab\\x1B[2J\\x00");
        check("ü\u{202e}".as_bytes(), "\\xC3\\xBC\\xE2\\x80\\xAE");
    }

    #[test]
    fn times_of_the_common_log_format() {
        let check = |seconds: u64, expected: &str| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(Common(time).to_string(), expected);
        };
        check(0, "01/Jan/1970:00:00:00 +0000");
        check(951_782_399, "28/Feb/2000:23:59:59 +0000");
        check(1_796_069_940, "30/Nov/2026:20:19:00 +0000");
    }
}
