//! What plugins may do in each phase, by the double.

use super::*;
use crate::testing::state::Phase;
use crate::{
    Attempt, BodyVerdict, Chunk, Entry, ErrorVerdict, Failure, HashKeyError, HeaderError, Plugin, Request,
    ResponseHead, StatusError, TargetError, UpstreamError,
};

/// Tries everything in every phase and keeps what it was told.
struct Prober;

impl Plugin for Prober {
    type Config = ();

    fn configure((): ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        assert_eq!(request.set_header("host", "x"), Err(HeaderError::HostOwned));
        assert_eq!(request.set_header("x-a", "1"), Ok(()));
        assert_eq!(request.set_path("no"), Err(TargetError::Invalid));
        assert_eq!(request.append_query("b", "2 3"), Ok(()));
        assert_eq!(request.set_upstream("nowhere"), Err(UpstreamError::Unknown));
        assert_eq!(request.set_upstream("blue"), Ok(()));
        assert_eq!(request.set_hash_key([0; 8193]), Err(HashKeyError::TooLarge));
        assert_eq!(request.set_hash_key("tenant"), Ok(()));
        assert_eq!(ResponseHead::current().status(), 0);
        assert_eq!(ResponseHead::current().set_status(200), Err(StatusError::WrongPhase));
        crate::log::info!("at {}", request.path());
        Verdict::Next
    }

    fn on_response(&self, _: &Request, response: &mut ResponseHead) -> Verdict {
        assert_eq!(Request::current().set_header("x-a", "2"), Err(HeaderError::WrongPhase));
        assert_eq!(Request::current().set_query(None), Err(TargetError::WrongPhase));
        assert_eq!(Request::current().set_upstream("blue"), Err(UpstreamError::WrongPhase));
        assert_eq!(Request::current().set_hash_key("x"), Err(HashKeyError::WrongPhase));
        assert_eq!(response.status(), 200);
        assert_eq!(response.set_status(199), Err(StatusError::Invalid));
        assert_eq!(response.append_header("vary", "origin"), Ok(()));
        Response::new(99).into()
    }

    fn on_log(&self, request: &Request, response: &ResponseHead, entry: &Entry) {
        assert_eq!(ResponseHead::current().remove_header("vary"), Err(HeaderError::WrongPhase));
        assert_eq!((response.status(), entry.status), (500, 500));
        assert_eq!(request.set_attribute("seen", "1"), Ok(()));
    }
}

#[test]
fn each_phase_may_change_what_the_contract_says() {
    let mut exchange = Exchange::get("/a?b=1").with_upstreams(["blue"]);
    assert_eq!(exchange.on_request(&Prober).verdict, Verdict::Next);
    assert_eq!((exchange.target().as_str(), exchange.upstream()), ("/a?b=1&b=2%203", Some("blue")));
    assert_eq!(exchange.hash_key(), Some(b"tenant".as_slice()));
    assert_eq!(exchange.logged(), [(Level::Info, "at /a".to_owned())]);
    exchange.on_response(&Prober);
    assert_eq!((exchange.status(), exchange.response_header("vary")), (500, None));
    exchange.on_log(&Prober);
    assert_eq!(exchange.attribute("seen").unwrap(), "1");
}

struct Bodies;

impl Plugin for Bodies {
    type Config = ();

    fn configure((): ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_upstream_request(&self, request: &mut Request, attempt: &Attempt) -> Verdict {
        assert_eq!(request.append_header("x-attempt", attempt.number.to_string()), Ok(()));
        assert_eq!(request.set_method("PUT"), Err(TargetError::WrongPhase));
        Verdict::Next
    }

    fn on_request_body(&self, request: &Request, chunk: Chunk) -> BodyVerdict {
        let _ = request.set_attribute("last", if chunk.last { "yes" } else { "no" });
        BodyVerdict::replace(chunk.data.to_ascii_uppercase())
    }

    fn on_response_body(&self, _: &Request, response: &mut ResponseHead, chunk: Chunk) -> BodyVerdict {
        let _ = response.set_header("x-length", chunk.data.len().to_string());
        BodyVerdict::replace(chunk.data.to_ascii_uppercase())
    }

    fn on_error(&self, _: &Request, failure: &Failure) -> ErrorVerdict {
        if failure.can_retry { ErrorVerdict::Retry } else { Response::new(failure.status).into() }
    }
}

#[test]
fn an_attempt_starts_from_the_request_as_it_was() {
    let mut exchange = Exchange::get("/a");
    for number in 1..=2 {
        exchange.on_upstream_request(&Bodies, &Attempt { number, ..Attempt::default() });
        assert_eq!(exchange.request_header_all("x-attempt"), [Bytes::from(number.to_string())]);
    }
}

#[test]
fn a_buffered_body_is_replaced_and_its_head_waits() {
    let mut exchange = Exchange::new("POST", "/a").body("abc").with_response(Response::new(200).body("xyz"));
    exchange.on_request_body(&Bodies, Chunk::whole("abc"));
    assert_eq!(exchange.state.lend(Phase::Request, || Request::current().body()), Some("ABC".into()));
    exchange.on_response_body(&Bodies);
    assert_eq!(
        (exchange.response_body(), exchange.response_header("x-length")),
        (&b"XYZ"[..], Some("3".into()))
    );
}

#[test]
fn a_streamed_body_has_no_head() {
    let mut exchange = Exchange::new("POST", "/a").with_response(Response::new(200).body("xyz"));
    assert_eq!(exchange.on_request_body(&Bodies, Chunk::part("ab")), BodyVerdict::replace("AB"));
    assert_eq!(exchange.attribute("last").unwrap(), "no");
    assert_eq!(exchange.on_response_chunk(&Bodies, Chunk::part("x")), BodyVerdict::replace("X"));
    assert_eq!(exchange.response_header("x-length"), None);
}

#[test]
fn an_error_page_is_what_the_response_phase_sees() {
    let mut exchange = Exchange::get("/a");
    let failure = Failure { status: 502, can_retry: true, ..Failure::default() };
    assert_eq!(exchange.on_error(&Bodies, &failure), ErrorVerdict::Retry);
    exchange.on_error(&Bodies, &Failure { can_retry: false, ..failure });
    assert_eq!(exchange.status(), 502);
}

#[test]
fn without_a_phase_there_is_no_request() {
    assert_eq!(Request::current().path(), "");
    assert_eq!(Request::current().set_header("x-a", "1"), Err(HeaderError::WrongPhase));
}
