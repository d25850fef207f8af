//! W3C Trace Context: a request that belongs to no trace yet begins one. Knows nothing of who collects traces.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::request_id;

const PARENT: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// Leaves a trace that a request belongs to as it is. Makes one where there is none, or none that can be read.
pub(crate) fn ensure(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(&PARENT).iter();
    if lines.next().is_some_and(|line| is_parent(line.as_bytes())) && lines.next().is_none() {
        return;
    }
    // What others said of a trace that can't be read is about nothing.
    headers.remove(&STATE);
    let (trace, span) = (request_id::fresh(), request_id::fresh());
    let span = span.get(..16).unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(&format!("00-{trace}-{span}-01")) {
        headers.insert(PARENT, value);
    }
}

/// Trace Context, section 3.2: version, trace, parent and flags, in lower-case hexadecimal digits; later versions
/// may go on behind that.
fn is_parent(value: &[u8]) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        value.get(range).is_some_and(|part| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    let zero = |range: std::ops::Range<usize>| {
        value.get(range).is_none_or(|part| part.iter().all(|byte| *byte == b'0'))
    };
    let dashes = [2, 35, 52].iter().all(|at| value.get(*at) == Some(&b'-'));
    let ends = value.len() == 55 || (value.get(55) == Some(&b'-') && !value.starts_with(b"00"));
    let parts = digits(0..2) && digits(3..35) && digits(36..52) && digits(53..55);
    dashes && ends && parts && !value.starts_with(b"ff") && !zero(3..35) && !zero(36..52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_told_from_junk() {
        let check = |value: &str, expected| assert_eq!(is_parent(value.as_bytes()), expected, "{value}");
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        check(&format!("00-{trace}-{span}-01"), true);
        check(&format!("01-{trace}-{span}-01-later"), true);
        check(&format!("00-{trace}-{span}-01-later"), false);
        check(&format!("ff-{trace}-{span}-01"), false);
        check(&format!("00-{}-{span}-01", "0".repeat(32)), false);
        check(&format!("00-{trace}-{}-01", "0".repeat(16)), false);
        check(&format!("00-{}-{span}-01", trace.to_uppercase()), false);
        check(&format!("00-{trace}-{span}"), false);
        check("", false);
    }

    #[test]
    fn a_trace_is_made_only_where_there_is_none() {
        let mut headers = HeaderMap::new();
        headers.append(STATE, HeaderValue::from_static("a=1"));
        ensure(&mut headers);
        let made = headers.get(&PARENT).unwrap().clone();
        assert!(is_parent(made.as_bytes()) && !headers.contains_key(&STATE));
        headers.append(STATE, HeaderValue::from_static("a=1"));
        ensure(&mut headers);
        assert_eq!((headers.get(&PARENT), headers.contains_key(&STATE)), (Some(&made), true));
        headers.append(PARENT, HeaderValue::from_static("x"));
        ensure(&mut headers);
        assert_ne!(headers.get(&PARENT), Some(&made), "two lines are none");
    }
}
