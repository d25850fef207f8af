//! What the libraries below only say in their logs: requests and connections that they refuse before any hook of a
//! request runs. Their messages are known here, and nowhere else. Knows no access log.

use std::fmt::{self, Arguments, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterFn, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Context, Filter};

/// Something that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal<'a> {
    pub answer: Answer,
    /// The library's words. They may hold what the client sent.
    pub reason: &'a str,
}

/// What the client got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Status 400.
    BadRequest,
    /// Status 431, over HTTP/2.
    HeadersTooLarge,
    /// A stream of HTTP/2 that is reset.
    Reset,
    /// A connection of HTTP/2 that ends.
    Ended,
}

/// Who hears of it, on the thread and in the task of the client's connection.
pub type Hear<'a> = dyn Fn(Refusal<'_>) + Send + Sync + 'a;

/// What Pingora's proxy logs for a request that it answers with 400 by itself.
const PROXY: (&str, &str) = ("pingora_proxy", "Fail to proxy: ");

/// What its HTTP/2 server logs: requests that it answers with 400, requests that it resets, and connections that are over.
const SERVER: &str = "pingora_core::protocols::http::v2::server";
const SERVER_BAD: &str = "rejecting downstream h2 request: ";
const SERVER_RESET: &str = "Rejecting H2 request: ";
const SERVER_OVER: &str = "H2 error when accepting new stream ";

/// In the words of the HTTP/2 library: it was not the client, and not the network, that ended the connection.
const DETECTED: &str = "connection error detected: ";

/// What Pingora logs, as an error, for a connection that says it is HTTP/2 and is not.
const HANDSHAKE: (&str, &str) = ("pingora_core::apps", "H2 handshake error ");

/// Whether a message of the `log` crate may be one of these.
pub(super) fn may_tell(target: &str) -> bool {
    [PROXY.0, SERVER, HANDSHAKE.0].contains(&target)
}

/// Tells `hear` of a refusal, if the message is about one. False: it is about something else.
pub(super) fn hear_pingora(record: &log::Record<'_>, hear: &Hear<'_>) -> bool {
    let (target, text) = (record.target(), record.args());
    let told = |prefix: &str, answer: Answer| {
        let Some(text) = starts_with(text, prefix) else { return false };
        let reason = text.strip_prefix(prefix).unwrap_or(&text);
        match (answer, reason.split_once(DETECTED)) {
            (Answer::Ended, Some((_, reason))) => hear(Refusal { answer, reason }),
            // The client or the network did that.
            (Answer::Ended, None) => {}
            _ => hear(Refusal { answer, reason }),
        }
        true
    };
    match (record.level(), target) {
        (log::Level::Debug, target) if target == PROXY.0 => told(PROXY.1, Answer::BadRequest),
        (log::Level::Debug, SERVER) => {
            told(SERVER_BAD, Answer::BadRequest)
                || told(SERVER_RESET, Answer::Reset)
                || told(SERVER_OVER, Answer::Ended)
        }
        (log::Level::Error, target) if target == HANDSHAKE.0 => told(HANDSHAKE.1, Answer::Ended),
        _ => false,
    }
}

/// The text of `arguments`, if it starts with `prefix`. Most messages are all text, or have none in common with it: formatting
/// stops at the first byte that differs.
fn starts_with(arguments: &Arguments<'_>, prefix: &str) -> Option<String> {
    if let Some(text) = arguments.as_str() {
        return text.starts_with(prefix).then(|| text.to_owned());
    }
    struct Matcher<'a> {
        prefix: &'a str,
        text: String,
    }
    impl Write for Matcher<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            let seen = self.text.len();
            self.text.push_str(part);
            let due = self.prefix.as_bytes().get(seen..).unwrap_or_default();
            let same = due.iter().zip(part.as_bytes()).all(|(a, b)| a == b);
            if same { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut matcher = Matcher { prefix, text: String::new() };
    Write::write_fmt(&mut matcher, *arguments).ok()?;
    (matcher.text.len() >= prefix.len()).then_some(matcher.text)
}

/// Hears of streams that the HTTP/2 library resets or answers by itself. That happens in the client's task; its tasks of
/// connections to upstreams say the same, which `hear` tells apart.
pub(super) struct Streams<H>(pub(super) H);

impl<S: Subscriber, H: Fn(Refusal<'_>) + Send + Sync + 'static> Layer<S> for Streams<H> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        if let Some(refusal) = of_stream(&text.0) {
            (self.0)(refusal);
        }
    }
}

/// What such a message has: words and nothing else. That leaves out those on each frame, which would cost.
pub(super) fn of_http2<S>() -> impl Filter<S> {
    fn fits(metadata: &Metadata<'_>) -> bool {
        let mut fields = metadata.fields().iter().map(|field| field.name());
        *metadata.level() == Level::DEBUG
            && metadata.target().starts_with("h2::")
            && metadata.is_event()
            && fields.next() == Some("message")
            && fields.next().is_none()
    }
    let filter: FilterFn<fn(&Metadata<'_>) -> bool> = filter_fn(fits);
    filter.with_max_level_hint(LevelFilter::DEBUG)
}

fn of_stream(text: &str) -> Option<Refusal<'_>> {
    // A request that is known already has a line of its own.
    const LATER: [&str; 5] = ["recv_data", "recv_trailers", "recv_push_promise", "poll_", "PRIORITY"];
    if let Some((kind, reason)) = text.strip_prefix("stream error ").and_then(|text| text.split_once(" -- "))
    {
        if LATER.iter().any(|start| reason.starts_with(start)) {
            return None;
        }
        let too_large = kind == "REQUEST_HEADER_FIELDS_TOO_LARGE";
        return Some(Refusal {
            answer: if too_large { Answer::HeadersTooLarge } else { Answer::Reset },
            reason,
        });
    }
    let reason = text.strip_prefix("malformed headers: ")?;
    Some(Refusal { answer: Answer::Reset, reason })
}

/// The message of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string does not fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn only_the_wanted_message_is_formatted() {
        let check = |arguments: Arguments<'_>, expected: Option<&str>| {
            assert_eq!(starts_with(&arguments, PROXY.1).as_deref(), expected);
        };
        check(format_args!("Fail to proxy: {}", "x"), Some("Fail to proxy: x"));
        check(format_args!("Fail to{} {}", " proxy:", "x"), Some("Fail to proxy: x"));
        check(format_args!("Fail to read: {}", "x"), None);
        check(format_args!("Fail"), None);
        check(format_args!("{}", ""), None);
    }

    #[test]
    fn messages_of_pingora_say_what_the_client_got() {
        let check =
            |level: log::Level, target: &str, text: &str, expected: (bool, Option<(Answer, &str)>)| {
                let heard = Mutex::new(None);
                let hear = |refusal: Refusal<'_>| {
                    *heard.lock().unwrap() = Some((refusal.answer, refusal.reason.to_owned()));
                };
                let arguments = format_args!("{text}");
                let said = hear_pingora(
                    &log::Record::builder().level(level).target(target).args(arguments).build(),
                    &hear,
                );
                let heard = heard.lock().unwrap().clone();
                assert_eq!(
                    (said, heard.as_ref().map(|(answer, reason)| (*answer, reason.as_str()))),
                    expected,
                    "{text}"
                );
            };
        use log::Level::{Debug, Error};
        check(Debug, PROXY.0, "Fail to proxy: odd", (true, Some((Answer::BadRequest, "odd"))));
        check(Error, PROXY.0, "Fail to proxy: odd", (false, None));
        check(
            Debug,
            SERVER,
            "rejecting downstream h2 request: odd",
            (true, Some((Answer::BadRequest, "odd"))),
        );
        check(Debug, SERVER, "Rejecting H2 request: odd", (true, Some((Answer::Reset, "odd"))));
        let over = "H2 error when accepting new stream  H2Error cause: connection error";
        check(Debug, SERVER, &format!("{over} detected: odd"), (true, Some((Answer::Ended, "odd"))));
        check(Debug, SERVER, &format!("{over} received: odd"), (true, None));
        let no_preface = "H2 handshake error cause: connection error detected: odd";
        check(Error, HANDSHAKE.0, no_preface, (true, Some((Answer::Ended, "odd"))));
        check(Error, HANDSHAKE.0, "H2 handshake error cause: broken pipe", (true, None));
        check(Error, HANDSHAKE.0, "something else", (false, None));
    }

    #[test]
    fn messages_of_the_http2_library_say_what_the_client_got() {
        let check = |text: &str, expected: Option<(Answer, &str)>| {
            assert_eq!(of_stream(text).map(|refusal| (refusal.answer, refusal.reason)), expected, "{text}");
        };
        let large = "stream error REQUEST_HEADER_FIELDS_TOO_LARGE -- recv_headers: frame is over size";
        check(large, Some((Answer::HeadersTooLarge, "recv_headers: frame is over size")));
        check("stream error PROTOCOL_ERROR -- malformed;", Some((Answer::Reset, "malformed;")));
        check("malformed headers: missing scheme", Some((Answer::Reset, "missing scheme")));
        check("stream error PROTOCOL_ERROR -- recv_data: content-length overflow;", None);
        check("connection error PROTOCOL_ERROR -- invalid stream ID 0;", None);
        check("received settings ACK; applying", None);
    }
}
